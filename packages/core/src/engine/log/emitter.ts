/** Told of a listener's failure; must not throw itself. */
export type ListenerFailure = (error: unknown) => void

interface Subscription<T> {
  readonly listener: (value: T) => unknown
}

/**
 * Calls its listeners one after the other, in the order they came. The list is replaced, never changed, so a listener
 * that unsubscribes itself or another one while being called makes nobody miss the event; one that throws or rejects
 * harms nobody.
 */
export class Emitter<T> {
  #listeners: readonly Subscription<T>[] = []
  readonly #onFailure: ListenerFailure
  #isEmitting = false
  #waiting: T[] | undefined

  constructor(onFailure: ListenerFailure) {
    this.#onFailure = onFailure
  }

  get size(): number {
    return this.#listeners.length
  }

  subscribe(listener: (value: T) => unknown): () => void {
    // One entry per subscription: the same function may be subscribed twice.
    const entry: Subscription<T> = { listener }
    this.#listeners = this.#listeners.concat(entry)
    return () => {
      this.#listeners = this.#listeners.filter((other) => other !== entry)
    }
  }

  /** From inside a listener: after what is being told now, so that everybody hears one order. */
  emit(value: T): void {
    if (this.#isEmitting) {
      this.#waiting ??= []
      this.#waiting.push(value)
      return
    }
    this.#isEmitting = true
    try {
      this.#tell(value)
      // Nearly always there is nothing more: listeners give commands, which come later.
      if (this.#waiting !== undefined) for (const next of this.#waiting) this.#tell(next)
    } finally {
      this.#waiting = undefined
      this.#isEmitting = false
    }
  }

  #tell(value: T): void {
    for (const { listener } of this.#listeners) {
      try {
        const returned = listener(value)
        if (returned instanceof Promise) returned.catch(this.#onFailure)
      } catch (error) {
        this.#onFailure(error)
      }
    }
  }
}
