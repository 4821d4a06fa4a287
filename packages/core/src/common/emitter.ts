/** Called when a listener fails; must not throw itself. */
export type ListenerFailure = (error: unknown) => void

interface Listening<T> {
  readonly listener: (value: T) => unknown
}

/**
 * Calls its listeners in the order they subscribed. The list is replaced, never changed, so no listener misses a value
 * when one unsubscribes during a call. A listener that throws or rejects does not affect the others.
 */
export class Emitter<T> {
  #listeners: readonly Listening<T>[] = []
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
    const entry: Listening<T> = { listener }
    this.#listeners = this.#listeners.concat(entry)
    return () => {
      this.#listeners = this.#listeners.filter((other) => other !== entry)
    }
  }

  /** Calls all listeners. A value emitted inside a listener comes after the current one, so all hear the same order. */
  emit(value: T): void {
    if (this.#isEmitting) {
      this.#waiting ??= []
      this.#waiting.push(value)
      return
    }
    this.#isEmitting = true
    try {
      // Nearly always without followers: listeners give commands, which take effect later.
      for (let next = value, index = 0; ; next = this.#waiting[index++] as T) {
        for (const { listener } of this.#listeners) {
          try {
            const returned = listener(next)
            if (returned instanceof Promise) returned.catch(this.#onFailure)
          } catch (error) {
            this.#onFailure(error)
          }
        }
        if (this.#waiting === undefined || index >= this.#waiting.length) return
      }
    } finally {
      this.#waiting = undefined
      this.#isEmitting = false
    }
  }
}
