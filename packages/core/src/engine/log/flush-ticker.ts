/** The delay of a batch: the wire wants no less, and the disk no more. */
export const FLUSH_INTERVAL_MS = 40

/** Something with unwritten deltas. */
export interface Flushable {
  flushSoon(): void
}

/** One timer for all threads of the process; it runs only while something is unwritten. */
export class FlushTicker {
  readonly #waiting = new Set<Flushable>()
  #timer: NodeJS.Timeout | undefined

  add(flushable: Flushable): void {
    this.#waiting.add(flushable)
    this.#timer ??= setTimeout(() => this.#tick(), FLUSH_INTERVAL_MS)
  }

  remove(flushable: Flushable): void {
    this.#waiting.delete(flushable)
    if (this.#waiting.size === 0) {
      clearTimeout(this.#timer)
      this.#timer = undefined
    }
  }

  #tick(): void {
    this.#timer = undefined
    const due = [...this.#waiting]
    this.#waiting.clear()
    for (const flushable of due) flushable.flushSoon()
  }
}

export const sharedTicker: FlushTicker = new FlushTicker()
