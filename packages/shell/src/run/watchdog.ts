export interface Stall {
  /** How long there was no output. */
  readonly silentMs: number
}

export interface WatchdogOptions {
  readonly stallMs?: number
  /** Called once per silence; output or a write to stdin starts a new one. The caller decides what to do. */
  readonly onStall?: (stall: Stall) => void
  readonly deadlineMs?: number
  /** Called once, when the run has lasted this long. The caller decides what to do. */
  readonly onDeadline?: () => void
}

/** Longer delays overflow the timer, which would then fire at once. */
const longestDelayMs = 2 ** 31 - 1

/** Watches one run for silence and for its deadline. Its timers never keep the host alive. */
export class Watchdog {
  readonly #options: WatchdogOptions
  readonly #heldBack: () => boolean
  #deadlineTimer: NodeJS.Timeout | undefined
  #stallTimer: NodeJS.Timeout | undefined
  #lastSign = performance.now()
  #stopped = false

  /** `heldBack`: true while we are not reading, so that the silence is our own doing. */
  constructor(options: WatchdogOptions, heldBack: () => boolean) {
    this.#options = options
    this.#heldBack = heldBack
    const { stallMs, deadlineMs, onDeadline } = options
    if (deadlineMs !== undefined && onDeadline !== undefined) {
      this.#deadlineTimer = setTimeout(onDeadline, deadlineMs).unref()
    }
    if (stallMs !== undefined) this.#watchFor(stallMs)
  }

  /** Only notes the time, because it is called for every chunk. The timer checks it when it fires. */
  sign(): void {
    const { stallMs } = this.#options
    if (stallMs === undefined) return
    this.#lastSign = performance.now()
    if (this.#stallTimer === undefined && !this.#stopped) this.#watchFor(stallMs)
  }

  stop(): void {
    this.#stopped = true
    clearTimeout(this.#deadlineTimer)
    clearTimeout(this.#stallTimer)
  }

  #watchFor(delayMs: number): void {
    this.#stallTimer = setTimeout(() => {
      // After a blocked loop or a sleep of the machine, output may wait to be read, so check after the next poll.
      setImmediate(() => this.#check())
    }, delayMs).unref()
  }

  #check(): void {
    const { stallMs, onStall } = this.#options
    if (this.#stopped || stallMs === undefined) return
    if (this.#heldBack()) this.#lastSign = performance.now()
    const silentMs = performance.now() - this.#lastSign
    if (silentMs < stallMs) {
      this.#watchFor(Math.ceil(stallMs - silentMs))
      return
    }
    this.#stallTimer = undefined
    onStall?.({ silentMs: Math.round(silentMs) })
  }
}

export function assertWatchdogOptions(options: WatchdogOptions): void {
  assertPair('stallMs', options.stallMs, 'onStall', options.onStall)
  assertPair('deadlineMs', options.deadlineMs, 'onDeadline', options.onDeadline)
}

function assertPair(name: string, delayMs: number | undefined, hookName: string, hook: unknown): void {
  if ((delayMs === undefined) !== (hook === undefined)) {
    throw new TypeError(`${name} and ${hookName} belong together: give both or none.`)
  }
  if (delayMs !== undefined && !(delayMs > 0 && delayMs <= longestDelayMs)) {
    throw new RangeError(`${name} must be a number of milliseconds from 1 to ${longestDelayMs}, not ${delayMs}`)
  }
}
