/** Longer delays overflow the timer and would fire at once. */
const LONGEST_DELAY_MS = 2 ** 31 - 1

export interface TurnClockOptions {
  /** `null`: no limit. */
  readonly deadlineMs: number | null
  readonly stallMs: number | null
  readonly onDeadline: () => void
  /** Called once per silence. */
  readonly onStall: (silentMs: number) => void
  /** A clock in milliseconds, from any starting point. */
  readonly now?: () => number
}

/**
 * Watches the limits of one turn of a process that takes many. Time in which the CLI waits for a person does not count.
 * The timers never keep our process alive.
 */
export class TurnClock {
  readonly #options: TurnClockOptions
  readonly #now: () => number
  #deadline: NodeJS.Timeout | undefined
  #stall: NodeJS.Timeout | undefined
  #leftMs: number
  #startedAt = 0
  #lastSign = 0
  #isRunning = false

  constructor(options: TurnClockOptions) {
    this.#options = options
    this.#now = options.now ?? (() => performance.now())
    this.#leftMs = options.deadlineMs ?? 0
  }

  start(): void {
    if (this.#isRunning) return
    this.#isRunning = true
    this.#startedAt = this.#now()
    const { deadlineMs, onDeadline } = this.#options
    if (deadlineMs !== null) this.#deadline = timer(onDeadline, Math.max(1, this.#leftMs))
    this.sign()
  }

  /** Notes that the CLI printed something. */
  sign(): void {
    if (!this.#isRunning) return
    this.#lastSign = this.#now()
    if (this.#stall === undefined && this.#options.stallMs !== null) this.#watch(this.#options.stallMs)
  }

  pause(): void {
    if (!this.#isRunning) return
    this.#isRunning = false
    this.#leftMs -= this.#now() - this.#startedAt
    clearTimeout(this.#deadline)
    clearTimeout(this.#stall)
    this.#stall = undefined
  }

  /** Checks for output only when the timer fires, because `sign` is called for every line. */
  #watch(delayMs: number): void {
    this.#stall = timer(() => {
      const { stallMs, onStall } = this.#options
      const silentMs = this.#now() - this.#lastSign
      this.#stall = undefined
      if (stallMs === null) return
      if (silentMs < stallMs) this.#watch(Math.ceil(stallMs - silentMs))
      else onStall(Math.round(silentMs))
    }, delayMs)
  }
}

/** Starts a timer that does not keep our process alive. */
export function timer(act: () => void, delayMs: number): NodeJS.Timeout {
  return setTimeout(act, Math.min(delayMs, LONGEST_DELAY_MS)).unref()
}
