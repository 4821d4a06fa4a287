/** The delay of a batch: the wire wants no less, and the disk no more. */
export const FLUSH_INTERVAL_MS = 40

/** Something with unwritten deltas. */
export interface Flushable {
  flushSoon(): void
}

/**
 * One timer for all threads of the process. It keeps the process alive only while something is unwritten; it is not
 * cleared then, because a new one for every short turn would cost more than a tick for nothing. A log that is closed
 * clears it, so that no timer outlives the last one.
 */
export class FlushTicker {
  readonly #waiting = new Set<Flushable>()
  #timer: NodeJS.Timeout | undefined

  add(flushable: Flushable): void {
    this.#waiting.add(flushable)
    if (this.#timer === undefined) this.#timer = setTimeout(() => this.#tick(), FLUSH_INTERVAL_MS)
    else if (this.#waiting.size === 1) this.#timer.ref()
  }

  remove(flushable: Flushable): void {
    if (this.#waiting.delete(flushable) && this.#waiting.size === 0) this.#timer?.unref()
  }

  /** Ends the timer unless another thread has unwritten deltas. */
  rest(): void {
    if (this.#waiting.size > 0) return
    clearTimeout(this.#timer)
    this.#timer = undefined
  }

  #tick(): void {
    this.#timer = undefined
    const due = [...this.#waiting]
    this.#waiting.clear()
    for (const flushable of due) flushable.flushSoon()
  }
}

export const sharedTicker: FlushTicker = new FlushTicker()
