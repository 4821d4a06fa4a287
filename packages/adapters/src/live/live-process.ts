import type { JsonObject } from '@inspan/protocol'
import type { ProcessNote } from '@inspan/protocol/log'
import {
  spawnRun,
  type KillReceipt,
  type Line,
  type LineStream,
  type RunExit,
  type RunProcess,
} from '@inspan/shell/run'
import type { Environment } from '../launch/find-cli.ts'
import { endsWithItsOutput, leftRunning } from '../launch/left-running.ts'
import { processNote } from '../launch/process-note.ts'
import type { PrivateDir } from '../launch/private-dir.ts'
import { stopRun } from '../launch/stop-run.ts'
import { strictJson } from '../launch/strict-json.ts'
import { endsWithin } from '../launch/within.ts'

const UNKNOWN_EXIT: RunExit = { code: null, signal: null }

export interface LiveProcessOptions {
  readonly command: string
  readonly args: readonly string[]
  readonly cwd: string
  readonly env: Environment
  /** Removed when the process has ended. */
  readonly dir: PrivateDir
  /** How long the process may take to exit after its input was closed. */
  readonly graceMs: number
  /** A returned promise pauses the output. */
  readonly onLine: (stream: 'stdout' | 'stderr', line: Line) => Promise<void> | undefined
  /** Called if the process exited by itself and left these processes running, which are ended too. */
  readonly onLeft: (names: string) => void
}

/** A process for many turns, until nothing of it is left. */
export class LiveProcess {
  readonly #options: LiveProcessOptions
  readonly #process: RunProcess
  readonly #unkillable = Promise.withResolvers<RunExit>()
  readonly #done: Promise<RunExit>
  #stopping: Promise<KillReceipt> | undefined
  #hasEnded = false

  /** Rejects with a `SpawnError` if the process cannot be started. */
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

  /** Resolves when the process has exited, its output was read and nothing that it started is left. Never rejects. */
  get done(): Promise<RunExit> {
    return this.#done
  }

  send(message: JsonObject): void {
    // A process that takes no more input has exited, and its exit is reported elsewhere.
    this.#process.write(`${strictJson(message)}\n`).catch(() => undefined)
  }

  /** Closes the input, and after the grace period kills what is left. A second call awaits the first. */
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
      // Without its output we cannot talk to the process.
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

  /** A process that has closed its output will never answer. */
  async #endSilenced(): Promise<void> {
    if (!(await endsWithin(this.#process, this.#options.graceMs))) await this.stop()
  }

  /** Ends what a process left running that exited by itself. */
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
