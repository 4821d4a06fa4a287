import type { ChildProcess } from 'node:child_process'
import type { Readable, Writable } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'
import { hostTable } from './capabilities.ts'
import { hostGuard } from './guard.ts'
import type { KillOptions, KillReceipt } from './kill-receipt.ts'
import { killTree } from './kill-tree.ts'
import type { LineStream } from './line-stream.ts'
import type { RunRoot } from './membership.ts'
import type { RunRecord } from './reap.ts'
import { hostSweeper } from './sweeper.ts'
import type { Watchdog } from './watchdog.ts'

export interface RunExit {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

/** A process started with `spawnRun`, and everything it starts itself. */
export interface RunProcess {
  readonly runId: string
  readonly pid: number
  /** Clock ticks since boot; null where the platform does not provide it. */
  readonly startTime: number | null
  readonly bootId: string | null
  /** What to store, so that `reap` can end what is left of the run after a restart of the host. */
  readonly record: RunRecord
  /** Read both or call `discard()`: a process whose output is not read blocks on a full pipe. */
  readonly stdout: LineStream
  readonly stderr: LineStream
  /** Resolves when the process has ended. Processes it started may continue and keep the streams open. */
  readonly processExited: Promise<RunExit>
  /** Resolves when the process and both streams have ended: no more lines will come. */
  readonly exited: Promise<RunExit>
  /** Resolves when the system has taken the data, so awaiting it applies backpressure. Needs `stdin: 'open'`. */
  write(data: string | Uint8Array): Promise<void>
  /** Like `write`, for those who do not wait for it and hear of the end of the process anyway, at less cost. */
  post(data: string | Uint8Array): void
  closeStdin(): Promise<void>
  /** Ends every process of the run. Works after `exited` too, for what the run left behind. */
  kill(options?: KillOptions): Promise<KillReceipt>
}

/** The process takes no input: it has ended, has closed its stdin, or was started without one. */
export class StdinClosedError extends Error {
  override readonly name = 'StdinClosedError'
  readonly code = 'stdin-closed'

  constructor(why: string, cause?: unknown) {
    super(`The input was not delivered: ${why}.`, { cause })
  }
}

/** What holds the pipes so long after the kill cannot be found: it left the tree and cleared its environment. */
const heldPipesMs = 2000

export interface RunParts {
  readonly runId: string
  readonly child: ChildProcess & { readonly pid: number; readonly stdout: Readable; readonly stderr: Readable }
  readonly stdout: LineStream
  readonly stderr: LineStream
  readonly watchdog: Watchdog
}

/** Must be created right after the spawn, before the event loop turns, so that no event is missed. */
export class ChildRun implements RunProcess {
  readonly runId: string
  readonly pid: number
  readonly startTime: number | null
  readonly bootId: string | null
  readonly stdout: LineStream
  readonly stderr: LineStream
  readonly processExited: Promise<RunExit>
  readonly exited: Promise<RunExit>
  readonly #child: RunParts['child']
  readonly #watchdog: Watchdog
  #root: RunRoot
  #guarded = true

  constructor({ runId, child, stdout, stderr, watchdog }: RunParts) {
    this.runId = runId
    this.pid = child.pid
    // Readable even if the process has ended already: it stays a zombie until the event loop turns.
    this.startTime = hostTable.stat(child.pid)?.startTime ?? null
    this.bootId = hostTable.bootId()
    this.stdout = stdout
    this.stderr = stderr
    this.#child = child
    this.#watchdog = watchdog
    this.#root = { pid: child.pid, startTime: this.startTime }
    hostGuard.setRoot(runId, this.#root)
    this.processExited = new Promise((resolve) => {
      child.once('exit', (code, signal) => {
        this.#root = { ...this.#root, exitedAt: hostTable.ticksSinceBoot() ?? 0 }
        hostGuard.setRoot(runId, this.#root)
        resolve({ code, signal })
      })
    })
    this.exited = this.#whenOver()
    void this.exited.then(() => hostSweeper.add({ runId, root: this.#root, onGone: () => this.#release() }))
  }

  get record(): RunRecord {
    return { runId: this.runId, pid: this.pid, startTime: this.startTime, bootId: this.bootId }
  }

  write(data: string | Uint8Array): Promise<void> {
    return new Promise<void>((resolve, reject) => {
      this.#stdin().write(data, (error) => {
        if (error) reject(new StdinClosedError('the process has ended or has closed its stdin', error))
        else resolve()
      })
    })
  }

  post(data: string | Uint8Array): void {
    this.#stdin().write(data)
  }

  #stdin(): Writable {
    const { stdin } = this.#child
    if (stdin === null) throw new StdinClosedError("the process was started without stdin: use stdin: 'open'")
    this.#watchdog.sign()
    return stdin
  }

  async closeStdin(): Promise<void> {
    const { stdin } = this.#child
    if (stdin === null || stdin.destroyed || stdin.writableFinished) return
    await new Promise<void>((resolve) => {
      stdin.once('close', resolve)
      stdin.end()
    })
  }

  async kill(options: KillOptions = {}): Promise<KillReceipt> {
    const receipt = await killTree({ ...options, runId: this.runId, root: this.#root })
    this.stdout.readToEnd()
    this.stderr.readToEnd()
    if (!receipt.left.some((process) => process.pid === this.pid)) await this.#letGoOfPipes()
    if (receipt.left.length === 0) this.#release()
    return receipt
  }

  async #whenOver(): Promise<RunExit> {
    const [exit] = await Promise.all([this.processExited, this.stdout.ended, this.stderr.ended])
    this.#watchdog.stop()
    return exit
  }

  async #letGoOfPipes(): Promise<void> {
    const over = new AbortController()
    const held = async (): Promise<void> => {
      do await pause(heldPipesMs, undefined, { signal: over.signal })
      while (this.stdout.paused || this.stderr.paused)
      this.#child.stdout.destroy()
      this.#child.stderr.destroy()
    }
    await Promise.race([this.exited, held()])
    over.abort()
    await this.exited
  }

  #release(): void {
    if (!this.#guarded) return
    this.#guarded = false
    hostGuard.release(this.runId)
  }
}
