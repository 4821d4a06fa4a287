import { whenAborted } from '@inspan/protocol/internal'

/** Ticks per time limit: a silent model is given up between the limit and a quarter more. */
const TICKS = 4

/** The longest delay of a timer. */
const LONGEST_TIMER_MS = 2 ** 31 - 1

/**
 * Limits the wait for one answer of a model: it ends when the turn is cancelled or nothing came for `silentMs`. One
 * coarse timer serves the whole answer, so an incoming part only resets a counter.
 */
export class Patience {
  readonly #abort = new AbortController()
  readonly #unfollow: (() => void) | undefined
  readonly #timer: NodeJS.Timeout | undefined
  /** Called when the wait ends early. A field and not a listener of `signal`, which would cost more per step. */
  onEnd: (() => void) | undefined
  /** `NaN` while we do not wait for the model. */
  #silentTicks = 0
  #isOver = false

  constructor(turn: AbortSignal | undefined, silentMs: number) {
    if (turn?.aborted === true) this.#abort.abort(turn.reason)
    else if (turn !== undefined) this.#unfollow = whenAborted(turn, () => this.#stop(turn.reason))
    const tickMs = Math.ceil(silentMs / TICKS)
    if (tickMs <= LONGEST_TIMER_MS) this.#timer = setInterval(() => this.#tick(), tickMs).unref()
  }

  get signal(): AbortSignal {
    return this.#abort.signal
  }

  /** Whether the model was given up. */
  get isOver(): boolean {
    return this.#isOver
  }

  /** Starts waiting for the model. */
  begin(): void {
    this.#silentTicks = 0
  }

  /** Stops waiting for the model until the next `begin`. */
  pause(): void {
    this.#silentTicks = Number.NaN
  }

  end(): void {
    clearInterval(this.#timer)
    this.#unfollow?.()
  }

  #tick(): void {
    if (!(++this.#silentTicks > TICKS)) return
    this.end()
    this.#isOver = true
    this.#stop(new DOMException('The model has been silent for too long.', 'TimeoutError'))
  }

  #stop(reason: unknown): void {
    this.#abort.abort(reason)
    this.onEnd?.()
  }
}
