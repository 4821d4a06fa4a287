/** More are not needed: the trace of a run is looked up while the run goes on, or right after. */
const KEPT = 100

/** The trace ids of the newest runs. */
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
