/** A model that was silent for too long is given up between this limit and a quarter more. */
const TICKS = 4

/** Timers take no more than this. */
const LONGEST_TIMER_MS = 2 ** 31 - 1

/**
 * The wait for one answer of a model. It ends when the turn is cancelled, and when nothing at all came for so long. One
 * coarse timer for the whole answer: what comes in only has to say so.
 */
export class Patience {
  readonly #abort = new AbortController()
  readonly #turn: AbortSignal | undefined
  readonly #timer: NodeJS.Timeout | undefined
  readonly #follow = (): void => this.#abort.abort(this.#turn?.reason)
  /** Not a number while nobody waits for the model. */
  #silentTicks = 0
  #isOver = false

  constructor(turn: AbortSignal | undefined, silentMs: number) {
    this.#turn = turn
    if (turn?.aborted === true) this.#follow()
    else turn?.addEventListener('abort', this.#follow, { once: true })
    const tickMs = Math.ceil(silentMs / TICKS)
    if (tickMs <= LONGEST_TIMER_MS) this.#timer = setInterval(() => this.#tick(), tickMs).unref()
  }

  get signal(): AbortSignal {
    return this.#abort.signal
  }

  /** The model was given up. */
  get isOver(): boolean {
    return this.#isOver
  }

  /** From now on it is the model's turn to say something. */
  begin(): void {
    this.#silentTicks = 0
  }

  /** It has; until the next `begin` it is not the model that is waited for. */
  pause(): void {
    this.#silentTicks = Number.NaN
  }

  end(): void {
    clearInterval(this.#timer)
    this.#turn?.removeEventListener('abort', this.#follow)
  }

  #tick(): void {
    if (!(++this.#silentTicks > TICKS)) return
    this.end()
    this.#isOver = true
    this.#abort.abort(new DOMException('The model has been silent for too long.', 'TimeoutError'))
  }
}
