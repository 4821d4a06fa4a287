/** Told of a listener's failure; must not throw itself. */
export type ListenerFailure = (error: unknown) => void

/**
 * Calls its listeners one after the other, in the order they came. The list is replaced, never changed, so a listener
 * that unsubscribes itself or another one while being called makes nobody miss the event; one that throws or rejects
 * harms nobody.
 */
export class Emitter<T> {
  #listeners: readonly ((value: T) => unknown)[] = []
  readonly #onFailure: ListenerFailure

  constructor(onFailure: ListenerFailure) {
    this.#onFailure = onFailure
  }

  get size(): number {
    return this.#listeners.length
  }

  subscribe(listener: (value: T) => unknown): () => void {
    // One entry per subscription: the same function may be subscribed twice.
    const entry = (value: T): unknown => listener(value)
    this.#listeners = [...this.#listeners, entry]
    return () => {
      this.#listeners = this.#listeners.filter((other) => other !== entry)
    }
  }

  emit(value: T): void {
    for (const listener of this.#listeners) {
      try {
        const returned = listener(value)
        if (returned instanceof Promise) returned.catch(this.#onFailure)
      } catch (error) {
        this.#onFailure(error)
      }
    }
  }
}
