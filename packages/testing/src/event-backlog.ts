/** A stream that is filled whether or not anybody reads it. Leaving its loop keeps the place: it can be read on. */
export class EventBacklog<T> implements AsyncGenerator<T> {
  readonly #items: T[] = []
  readonly #waiting: PromiseWithResolvers<IteratorResult<T, undefined>>[] = []
  #isEnded = false

  push(item: T): void {
    const waiting = this.#waiting.shift()
    if (waiting === undefined) this.#items.push(item)
    else waiting.resolve({ value: item, done: false })
  }

  end(): void {
    this.#isEnded = true
    for (const waiting of this.#waiting.splice(0)) waiting.resolve({ value: undefined, done: true })
  }

  async next(): Promise<IteratorResult<T, undefined>> {
    const [item] = this.#items
    if (this.#items.length > 0) {
      this.#items.shift()
      return { value: item as T, done: false }
    }
    if (this.#isEnded) return { value: undefined, done: true }
    const waiting = Promise.withResolvers<IteratorResult<T, undefined>>()
    this.#waiting.push(waiting)
    return waiting.promise
  }

  async return(): Promise<IteratorResult<T, undefined>> {
    return { value: undefined, done: true }
  }

  async throw(error: unknown): Promise<IteratorResult<T, undefined>> {
    throw error
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.return()
  }
}
