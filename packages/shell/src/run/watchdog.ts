export interface Stall {
  /** How long nothing was printed. */
  readonly silentMs: number
}

export interface WatchdogOptions {
  readonly stallMs?: number
  /** Called once per silence; output or a write to stdin starts a new one. What to do about it is the caller's choice. */
  readonly onStall?: (stall: Stall) => void
  readonly deadlineMs?: number
  /** Called once, when the run has lasted this long. What to do about it is the caller's choice. */
  readonly onDeadline?: () => void
}

/** Longer delays overflow the timer and would fire at once. */
const longestDelayMs = 2 ** 31 - 1

/** Watches one run: has it gone quiet, has it lasted too long. Its timers never keep the host alive. */
export class Watchdog {
  readonly #options: WatchdogOptions
  readonly #heldBack: () => boolean
  #deadlineTimer: NodeJS.Timeout | undefined
  #stallTimer: NodeJS.Timeout | undefined
  #lastSign = performance.now()
  #stopped = false

  /** `heldBack`: we are not reading at the moment, so the silence is ours. */
  constructor(options: WatchdogOptions, heldBack: () => boolean) {
    this.#options = options
    this.#heldBack = heldBack
    const { stallMs, deadlineMs, onDeadline } = options
    if (deadlineMs !== undefined && onDeadline !== undefined) {
      this.#deadlineTimer = setTimeout(onDeadline, deadlineMs).unref()
    }
    if (stallMs !== undefined) this.#watchFor(stallMs)
  }

  /** Only notes the time, as it is called for every chunk; the timer looks at it when it fires. */
  sign(): void {
    this.#lastSign = performance.now()
    const { stallMs } = this.#options
    if (stallMs !== undefined && this.#stallTimer === undefined && !this.#stopped) this.#watchFor(stallMs)
  }

  stop(): void {
    this.#stopped = true
    clearTimeout(this.#deadlineTimer)
    clearTimeout(this.#stallTimer)
  }

  #watchFor(delayMs: number): void {
    this.#stallTimer = setTimeout(() => {
      // After a blocked loop or a sleep of the machine, output may wait to be read: look after the next poll.
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
