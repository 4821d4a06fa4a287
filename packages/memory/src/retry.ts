/** The most steps between two attempts. */
const MOST_STEPS = 32

/** When a model that failed is asked again: each failure in a row doubles the steps until then. */
export class Retry {
  #failures = 0
  #next = 0

  isDue(step: number): boolean {
    return step >= this.#next
  }

  /** `step` is the coming one. After a single failure it is due at once. */
  failed(step: number): void {
    this.#next = step + Math.min(2 ** this.#failures++, MOST_STEPS) - 1
  }

  succeeded(): void {
    this.#failures = 0
    this.#next = 0
  }
}
