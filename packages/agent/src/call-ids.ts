/**
 * Makes call ids unique within a turn. The model gives the ids; an empty or repeated one is replaced, so that results
 * find their call.
 */
export class CallIds {
  readonly #open = new Map<string, string>()
  readonly #used: Set<string>
  readonly #ofStep = new Map<string, string>()

  constructor(used: Iterable<string> = []) {
    this.#used = new Set(used)
  }

  nextStep(): void {
    this.#open.clear()
    this.#ofStep.clear()
  }

  /** Returns the id of a call whose input is being streamed. */
  open(given: string): string {
    const known = this.#open.get(given)
    if (known !== undefined) return known
    const id = given === '' || this.#used.has(given) ? `call_${crypto.randomUUID()}` : given
    this.#used.add(id)
    this.#open.set(given, id)
    return id
  }

  take(given: string): string {
    const id = this.open(given)
    this.#open.delete(given)
    this.#ofStep.set(given, id)
    return id
  }

  /** Returns the id given to a call of this step. */
  taken(given: string): string {
    return this.#ofStep.get(given) ?? given
  }
}
