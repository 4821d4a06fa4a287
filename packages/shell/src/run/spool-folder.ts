import { createHash } from 'node:crypto'
import { lstat, rm, rmdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { RawSpool } from '@inspan/protocol/driver'

/** The fields of a turn that give its raw spool a place of its own. */
export interface SpooledTurn {
  readonly threadId: string
  readonly runId: string
  readonly turnId: string
  /** A resumed turn is recorded beside its earlier attempt. */
  readonly resumed?: { readonly attempt: number }
}

/** The raw spools of a host, in a folder per thread, run and turn, so that a run can be removed as a whole. */
export class SpoolFolder implements RawSpool {
  readonly root: string
  readonly isLocal = true

  constructor(root: string) {
    this.root = root
  }

  dirOf(turn: SpooledTurn): string {
    const attempt = turn.resumed === undefined ? '' : `.${turn.resumed.attempt}`
    return join(this.#runDir(turn), fileName(turn.turnId) + attempt)
  }

  async remove(run: { readonly threadId: string; readonly runId: string }): Promise<boolean> {
    const isThere = await removeDir(this.#runDir(run))
    // The thread's folder goes with its last run. While it still holds others, rmdir fails.
    await rmdir(this.#threadDir(run)).catch(() => undefined)
    return isThere
  }

  removeThread(thread: { readonly threadId: string }): Promise<boolean> {
    return removeDir(this.#threadDir(thread))
  }

  #runDir(run: { readonly threadId: string; readonly runId: string }): string {
    return join(this.#threadDir(run), fileName(run.runId))
  }

  #threadDir({ threadId }: { readonly threadId: string }): string {
    return join(this.root, fileName(threadId))
  }
}

async function removeDir(dir: string): Promise<boolean> {
  const isThere = await lstat(dir).then(
    () => true,
    () => false,
  )
  await rm(dir, { recursive: true, force: true })
  return isThere
}

/** Ids may come from anywhere. One that is not plainly a file name is replaced by its hash. */
function fileName(id: string): string {
  return /^[\w-]{1,100}$/.test(id) ? id : `~${createHash('sha256').update(id).digest('hex')}`
}
