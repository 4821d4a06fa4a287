import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { rootLineage, type Lineage } from '@inspan/protocol/log'
import { Checkpoints } from './checkpoints.ts'
import type { JournaledTurn } from './turn-journal.ts'

/** A folder whose changes are kept. */
export class CheckpointBench implements Disposable {
  readonly base = mkdtempSync(join(tmpdir(), 'inspan-checkpoints-'))
  readonly root = join(this.base, 'root')
  readonly folder = join(this.base, 'kept')
  checkpoints: Checkpoints

  constructor(isRepository = false) {
    mkdirSync(this.root)
    if (isRepository) this.git('init', '-q')
    this.checkpoints = this.again()
  }

  /** As another process would see it. */
  again(): Checkpoints {
    return new Checkpoints(this.root, { folder: this.folder })
  }

  git(...args: string[]): string {
    const identity = ['-c', 'user.name=a', '-c', 'user.email=a@b.c']
    return execFileSync('git', [...identity, ...args], { cwd: this.root, encoding: 'utf8' })
  }

  write(path: string, content: string | Buffer): void {
    mkdirSync(join(this.root, path, '..'), { recursive: true })
    writeFileSync(join(this.root, path), content)
  }

  read(path: string): string {
    return readFileSync(join(this.root, path), 'utf8')
  }

  /** A turn whose changes are found by comparing the folder before and after. */
  async turn(seq: number, change: () => void): Promise<void> {
    const turn = turnOf(seq)
    await this.checkpoints.baseline(turn)
    change()
    await this.checkpoints.end(turn)
  }

  [Symbol.dispose](): void {
    rmSync(this.base, { recursive: true, force: true })
  }
}

export const turnOf = (seq: number): JournaledTurn => ({ thread: 't', runId: `r${seq}`, turnId: `turn${seq}`, seq })
export const T: Lineage = rootLineage('t')
export const ALL = (): boolean => true
export const from =
  (seq: number) =>
  (turn: JournaledTurn): boolean =>
    turn.seq >= seq
