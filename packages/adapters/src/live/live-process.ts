import type { JsonObject, ProcessNote } from '@evener/protocol'
import {
  spawnRun,
  type KillReceipt,
  type Line,
  type LineStream,
  type RunExit,
  type RunProcess,
} from '@evener/shell/run'
import type { Environment } from '../launch/find-cli.ts'
import { endsWithin } from '../launch/ends-within.ts'
import { endsWithItsOutput, leftRunning } from '../launch/left-running.ts'
import { processNote } from '../launch/process-note.ts'
import type { PrivateDir } from '../launch/private-dir.ts'
import { stopRun } from '../launch/stop-run.ts'
import { strictJson } from '../launch/strict-json.ts'

const UNKNOWN_EXIT: RunExit = { code: null, signal: null }

export interface LiveProcessOptions {
  readonly command: string
  readonly args: readonly string[]
  readonly cwd: string
  readonly env: Environment
  /** Removed when the process is gone. */
  readonly dir: PrivateDir
  /** How long it may take to end by itself when its input ends. */
  readonly graceMs: number
  /** A promise holds its output back. */
  readonly onLine: (stream: 'stdout' | 'stderr', line: Line) => Promise<void> | undefined
  /** It ended by itself and had left this running, which was ended too. */
  readonly onLeft: (names: string) => void
}

/** A program that stays, from its start until nothing of it is left. */
export class LiveProcess {
  readonly #options: LiveProcessOptions
  readonly #process: RunProcess
  readonly #unkillable = Promise.withResolvers<RunExit>()
  readonly #done: Promise<RunExit>
  #stopping: Promise<KillReceipt> | undefined
  #hasEnded = false

  /** Rejects with a `SpawnError` if it cannot be started. */
  static async start(options: LiveProcessOptions): Promise<LiveProcess> {
    const { command, args, cwd, env } = options
    return new LiveProcess(options, await spawnRun({ command, args, cwd, env, stdin: 'open' }))
  }

  private constructor(options: LiveProcessOptions, process: RunProcess) {
    this.#options = options
    this.#process = process
    this.#done = Promise.race([this.#live(), this.#unkillable.promise])
  }

  get pid(): number {
    return this.#process.pid
  }

  get note(): ProcessNote {
    return processNote(this.#process)
  }

  get hasEnded(): boolean {
    return this.#hasEnded
  }

  /** It has ended, all it said was read, and nothing it started is left. Never rejects. */
  get done(): Promise<RunExit> {
    return this.#done
  }

  send(message: JsonObject): void {
    // A program that takes no input any more has ended, which says more.
    this.#process.write(`${strictJson(message)}\n`).catch(() => undefined)
  }

  /** Its input ends, and after the grace period everything that is left. The second call waits for the first. */
  stop(): Promise<KillReceipt> {
    const { graceMs } = this.#options
    this.#stopping ??= stopRun(this.#process, { closeStdin: true, graceMs }).then((receipt) => {
      if (receipt.left.some(({ pid }) => pid === this.pid)) this.#unkillable.resolve(UNKNOWN_EXIT)
      return receipt
    })
    return this.#stopping
  }

  async #live(): Promise<RunExit> {
    const { stdout, stderr, processExited } = this.#process
    void processExited.then(() => {
      this.#hasEnded = true
    })
    try {
      const heard = this.#read('stdout', stdout).then(() => this.#endSilenced())
      await Promise.all([heard, this.#read('stderr', stderr), this.#endRest()])
    } catch {
      // Who cannot be read cannot be talked to.
      await this.stop()
    }
    await this.#options.dir.remove().catch(() => undefined)
    return processExited
  }

  async #read(name: 'stdout' | 'stderr', lines: LineStream): Promise<void> {
    for await (const line of lines) {
      const held = this.#options.onLine(name, line)
      if (held !== undefined) await held
    }
  }

  /** Who has closed its output will never answer. */
  async #endSilenced(): Promise<void> {
    if (!(await endsWithin(this.#process, this.#options.graceMs))) await this.stop()
  }

  /** What a program leaves running when it ends by itself is ended too. */
  async #endRest(): Promise<void> {
    const process = this.#process
    const isOutputOver = await endsWithItsOutput(process)
    if (this.#stopping !== undefined) {
      await this.#stopping
      return
    }
    const left = await leftRunning(process, isOutputOver)
    if (left === undefined) return
    this.#options.onLeft(left)
    await process.kill()
  }
}
