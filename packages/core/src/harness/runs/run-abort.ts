import type { SessionBinding } from '../sessions/session-binding.ts'
import { reportFailure } from '../events/report-errors.ts'

interface RunController {
  readonly runId: string
  readonly controller: AbortController
}

/** The run of the session's thread as an abort controller: aborted when the run is, and cancelling it when aborted. */
export class RunAbort {
  readonly #binding: SessionBinding
  readonly #abort: () => Promise<void>
  #current: RunController | undefined

  constructor(binding: SessionBinding, abort: () => Promise<void>) {
    this.#binding = binding
    this.#abort = abort
  }

  /** `undefined` when there is no run. */
  get controller(): AbortController | undefined {
    const runtime = this.#binding.lastRuntime
    const runId = this.#binding.head?.run?.runId
    if (runtime === undefined || runId === undefined) return undefined
    if (this.#current?.runId === runId) return this.#current.controller
    const controller = new AbortController()
    this.#current = { runId, controller }
    controller.signal.addEventListener('abort', () => void this.#stop(runId), { once: true })
    const stop = runtime.onEntry((entry) => {
      if (entry.kind !== 'record' || entry.record.body.type !== 'run.ended') return
      if (entry.record.body.runId !== runId) return
      stop()
      // Whoever ended the run; it may have been another session.
      if (entry.record.body.outcome !== 'complete') controller.abort()
    })
    return controller
  }

  /** An abort was requested: aborts the signal before the run is over. */
  requested(): void {
    if (this.#current?.runId === this.#binding.head?.run?.runId) this.#current?.controller.abort()
  }

  async #stop(runId: string): Promise<void> {
    if (this.#binding.head?.run?.runId !== runId) return
    // Nobody awaits this; a failure is reported by an event.
    await reportFailure(this.#abort(), (event) => this.#binding.emit(event)).catch(() => undefined)
  }
}
