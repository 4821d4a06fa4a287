/** A queue that one reader empties. `return` only leaves: reading can go on until the end. */
export class Backlog<T> implements AsyncGenerator<T> {
  #items: T[] = []
  #read = 0
  readonly #waiting: PromiseWithResolvers<IteratorResult<T, undefined>>[] = []
  #isEnded = false
  isRead = false

  push(item: T): void {
    const waiting = this.#waiting.shift()
    if (waiting === undefined) this.#items.push(item)
    else waiting.resolve({ value: item, done: false })
  }

  unread(): readonly T[] {
    return this.#items.slice(this.#read)
  }

  end(): void {
    this.#isEnded = true
    for (const waiting of this.#waiting.splice(0)) waiting.resolve({ value: undefined, done: true })
  }

  async next(): Promise<IteratorResult<T, undefined>> {
    this.isRead = true
    if (this.#read < this.#items.length) return { value: this.#take(), done: false }
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

  /** What was read is dropped from time to time, not at every read. */
  #take(): T {
    const item = this.#items[this.#read] as T
    this.#read++
    if (this.#read === this.#items.length) {
      this.#items = []
      this.#read = 0
    } else if (this.#read === 1024) {
      this.#items = this.#items.slice(this.#read)
      this.#read = 0
    }
    return item
  }
}
