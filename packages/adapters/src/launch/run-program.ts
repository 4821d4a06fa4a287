import type { ProcessNote } from '@inspan/protocol/log'
import {
  spawnRun,
  StdinClosedError,
  type KillReceipt,
  type LineStream,
  type RunExit,
  type RunProcess,
  type SpawnRunOptions,
} from '@inspan/shell/run'
import { endsWithItsOutput, leftRunning } from './left-running.ts'
import { processNote } from './process-note.ts'
import type { StopWay } from './profile.ts'
import type { RunLog } from './run-log.ts'
import { stopRun } from './stop-run.ts'
import { endsWithin } from './within.ts'

const UNKNOWN_EXIT: RunExit = { code: null, signal: null }

export interface ProgramOptions extends Omit<SpawnRunOptions, 'stdin' | 'spool'> {
  /** Written to standard input, which is then closed. Absent: standard input is closed at once. */
  readonly input?: string
  readonly stopWay: StopWay
  readonly log: Pick<RunLog, 'lines' | 'warn'>
  /** Resolves when more may be read: slow consumers of the events hold the program back. */
  readonly room: () => Promise<void> | undefined
  readonly noteProcess: (note: ProcessNote) => Promise<void> | void
  /** Called if the program closed its output but does not exit, so that nothing more can be heard of it. */
  readonly onSilenced: () => void
}

/** A running program, until no process of it is left. */
export class Program {
  readonly #options: ProgramOptions
  readonly #process: RunProcess
  readonly #unkillable = Promise.withResolvers<void>()
  #killing: Promise<KillReceipt> | undefined
  #receipt: KillReceipt | undefined

  /** Rejects with a `SpawnError` if the program cannot be started. */
  static async start(options: ProgramOptions): Promise<Program> {
    const {
      input,
      stopWay: _stopWay,
      log: _log,
      room: _room,
      noteProcess: _noteProcess,
      onSilenced: _onSilenced,
      ...rest
    } = options
    const process = await spawnRun({ ...rest, stdin: input === undefined ? 'close' : 'open' })
    return new Program(options, process)
  }

  private constructor(options: ProgramOptions, process: RunProcess) {
    this.#options = options
    this.#process = process
  }

  get pid(): number {
    return this.#process.pid
  }

  /** What happened when the program was stopped. */
  get receipt(): KillReceipt | undefined {
    return this.#receipt
  }

  /** Reads everything the program prints and ends what it leaves running. Rejects if it cannot be read or noted. */
  async whenOver(): Promise<RunExit> {
    const { log } = this.#options
    const process = this.#process
    const read = Promise.all([
      this.#sendTask(),
      this.#read('stdout', process.stdout).then(() => this.#watchSilence()),
      this.#read('stderr', process.stderr),
      this.#waitForEnd(),
    ])
    const isOver = await Promise.race([read.then(() => true), this.#unkillable.promise.then(() => false)])
    if (isOver) return process.exited
    log.warn(`Process ${process.pid} could not be ended.`, 'not-ended')
    read.catch(() => undefined)
    return UNKNOWN_EXIT
  }

  /** Stops the program its own clean way first, then kills what is left. A second call awaits the first. */
  stop(): Promise<KillReceipt> {
    this.#killing ??= stopRun(this.#process, this.#options.stopWay).then((receipt) => {
      this.#receipt = receipt
      if (receipt.left.some(({ pid }) => pid === this.#process.pid)) this.#unkillable.resolve()
      return receipt
    })
    return this.#killing
  }

  async #sendTask(): Promise<void> {
    const { input, noteProcess } = this.#options
    await noteProcess(processNote(this.#process))
    if (input === undefined) return
    try {
      await this.#process.write(input)
    } catch (error) {
      // A program that exits without reading its input says why itself.
      if (!(error instanceof StdinClosedError)) throw error
    }
    await this.#process.closeStdin()
  }

  async #read(name: 'stdout' | 'stderr', lines: LineStream): Promise<void> {
    const { log, room } = this.#options
    for await (const batch of lines.batches()) {
      const written = log.lines(name, batch)
      if (written !== undefined) await written
      const free = room()
      if (free !== undefined) await free
    }
  }

  /** Waits as long as for a program that is asked to stop. */
  async #watchSilence(): Promise<void> {
    const { onSilenced, stopWay } = this.#options
    if (!(await endsWithin(this.#process, stopWay.graceMs)) && this.#killing === undefined) onSilenced()
  }

  async #waitForEnd(): Promise<void> {
    const process = this.#process
    const isOutputOver = await endsWithItsOutput(process)
    if (this.#killing !== undefined) return
    const left = await leftRunning(process, isOutputOver)
    if (left === undefined) return
    this.#options.log.warn(`What the program had left running was ended: ${left}.`, 'left-running')
    await process.kill()
  }
}
