import { existsSync } from 'node:fs'
import { InspanError, type JsonValue } from '@inspan/protocol'
import type { ThreadState } from '@inspan/protocol/log'
import type { Worktree, WorktreeStatus } from '@inspan/tools'
import type { ThreadRuntime } from '../../engine/index.ts'
import type { HarnessCore } from '../harness-core.ts'

/** The setting of a thread with its worktree. A fork inherits it and works there too, but does not own it. */
const WORKTREE = 'worktree'

interface OwnedWorktree extends Worktree {
  readonly thread: string
}

/** Returns the folder of the thread's worktree while it is there. */
export function worktreeFolder(core: HarnessCore, { head }: ThreadState): string | undefined {
  const path = treeOf(core, head.settings.get(WORKTREE))?.path
  return path !== undefined && existsSync(path) ? path : undefined
}

/** Removes the worktree of a thread that is deleted. Returns why it stays, if it does. */
export async function removeOwnWorktree(
  core: HarnessCore,
  { head }: ThreadState,
): Promise<{ readonly path: string; readonly reason: string } | undefined> {
  const tree = treeOf(core, head.settings.get(WORKTREE))
  if (tree === undefined || tree.thread !== head.stream || !existsSync(tree.top)) return undefined
  try {
    await (await core.workspace.worktrees()).remove(tree)
    return undefined
  } catch (error) {
    return { path: tree.top, reason: error instanceof Error ? error.message : String(error) }
  }
}

/** The git worktree of the bound thread: its agents work there instead of in the folder of the workspace. */
export class ThreadWorktree {
  readonly #core: HarnessCore
  readonly #runtime: () => ThreadRuntime

  constructor(core: HarnessCore, runtime: () => ThreadRuntime) {
    this.#core = core
    this.#runtime = runtime
  }

  /** Makes a worktree on a branch of its own. The agents of the thread work in it from the next run on. */
  create(): Promise<Worktree> {
    return this.#change(async (known, threadId) => {
      // A fork works in the worktree of its origin until it gets one of its own.
      if (known?.thread === threadId && existsSync(known.top)) {
        throw new InspanError('already-exists', `The thread has a worktree already: ${known.top}`)
      }
      const tree = await (await this.#core.workspace.worktrees()).create(threadId)
      return { kept: { ...tree, thread: threadId }, result: tree }
    })
  }

  /** Returns the worktree with what is not committed or merged in it; `null` if the thread has none. */
  async get(): Promise<WorktreeStatus | null> {
    const tree = treeOf(this.#core, this.#runtime().state.head.settings.get(WORKTREE))
    if (tree === undefined || !existsSync(tree.top)) return null
    const { branch, path, top } = tree
    return (await this.#core.workspace.worktrees()).status({ branch, path, top })
  }

  /** Merges its commits into the branch that is checked out in the workspace. Throws `conflict` if that does not fit. */
  merge(): Promise<void> {
    return this.#change(async (known) => {
      await (await this.#core.workspace.worktrees()).merge(required(known))
      return { kept: known, result: undefined }
    })
  }

  /** Makes its changes, committed or not, in the folder of the workspace. Throws `conflict` if they do not fit. */
  apply(): Promise<void> {
    return this.#change(async (known) => {
      await (await this.#core.workspace.worktrees()).apply(required(known))
      return { kept: known, result: undefined }
    })
  }

  /**
   * Removes it; the thread goes on in the folder of the workspace. Throws `conflict` if something is not committed, unless
   * that is to be discarded.
   */
  remove(options: { readonly discard?: boolean } = {}): Promise<void> {
    return this.#change(async (known, threadId) => {
      const tree = required(known)
      if (options.discard === true && tree.thread !== threadId) {
        throw new InspanError(
          'misuse',
          `The worktree belongs to the thread ${tree.thread} that this one was forked from.`,
        )
      }
      await (await this.#core.workspace.worktrees()).remove(tree, options)
      return { kept: undefined, result: undefined }
    })
  }

  #change<T>(
    task: (
      known: OwnedWorktree | undefined,
      threadId: string,
    ) => Promise<{ kept: OwnedWorktree | undefined; result: T }>,
  ): Promise<T> {
    return this.#runtime().change(async (log) => {
      const { run } = log.state.head
      if (run !== null) {
        throw new InspanError('misuse', `The worktree cannot change while run ${run.runId} is open.`, {
          hint: 'Abort the run first.',
        })
      }
      const known = treeOf(this.#core, log.state.head.settings.get(WORKTREE))
      const { kept, result } = await task(known, log.stream)
      if (kept !== known) {
        await log.commit([
          { type: 'config.changed', settings: { [WORKTREE]: kept === undefined ? null : { ...kept } } },
        ])
      }
      return result
    })
  }
}

function required(tree: OwnedWorktree | undefined): OwnedWorktree {
  if (tree !== undefined) return tree
  throw new InspanError('not-found', 'The thread has no worktree.', {
    hint: 'Make one with `thread.worktree.create()`.',
  })
}

function treeOf({ workspace }: HarnessCore, value: JsonValue | undefined): OwnedWorktree | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
  const { branch, path, thread, top } = value as { [key: string]: JsonValue }
  if (typeof branch !== 'string' || typeof path !== 'string' || typeof thread !== 'string') return undefined
  if (typeof top !== 'string' || ![path, top].every((folder) => workspace.isWorktree(folder))) return undefined
  return { branch, path, thread, top }
}
