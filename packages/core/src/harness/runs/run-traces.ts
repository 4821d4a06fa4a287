/** More are not asked for: a run's trace is looked up while it goes on, or right after. */
const KEPT = 100

/** Under which trace the newest runs are told of. */
export class RunTraces {
  readonly #byRun = new Map<string, string>()

  note(runId: string, traceId: string): void {
    this.#byRun.set(runId, traceId)
    const [oldest] = this.#byRun.keys()
    if (this.#byRun.size > KEPT && oldest !== undefined) this.#byRun.delete(oldest)
  }

  of(runId: string): string | undefined {
    return this.#byRun.get(runId)
  }
}
