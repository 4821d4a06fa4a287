/** Kept for the next calls. More than so many are seldom under way at once. */
const MOST_SPARE = 16

/**
 * The signals of calls, each of which can be aborted alone or with its turn. They are used again, and listen to a turn
 * once: a signal of its own for each call would cost more than everything else that we do for a call.
 */
export class CallSignals {
  readonly #spare: AbortController[] = []
  readonly #byTurn = new WeakMap<AbortSignal, Set<AbortController>>()

  /** Returns what aborts a call of a turn. */
  take(turn: AbortSignal): AbortController {
    const controller = this.#spare.pop() ?? new AbortController()
    if (turn.aborted) controller.abort(turn.reason)
    else this.#callsOf(turn).add(controller)
    return controller
  }

  /** The call is over, and nobody listens to its signal any more. */
  release(turn: AbortSignal, controller: AbortController): void {
    this.#byTurn.get(turn)?.delete(controller)
    if (!controller.signal.aborted && this.#spare.length < MOST_SPARE) this.#spare.push(controller)
  }

  #callsOf(turn: AbortSignal): Set<AbortController> {
    const known = this.#byTurn.get(turn)
    if (known !== undefined) return known
    const calls = new Set<AbortController>()
    this.#byTurn.set(turn, calls)
    turn.addEventListener('abort', () => calls.forEach((call) => call.abort(turn.reason)), { once: true })
    return calls
  }
}
