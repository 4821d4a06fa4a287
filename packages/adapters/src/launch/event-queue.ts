/** How many events may wait in the queue before producers have to wait. */
const HIGH_WATER = 256

/** A queue with one consumer and several producers, which wait while the queue is full. */
export class EventQueue<Item> {
  #items: Item[] = []
  #first = 0
  #isOver = false
  #isUnbounded = false
  #wakeTaker: (() => void) | undefined
  #wakeMakers: (() => void)[] = []

  push(item: Item): void {
    this.#items.push(item)
    this.#wakeTaker?.()
  }

  /** Resolves when the queue has room. Producers await it after a push. */
  async room(): Promise<void> {
    while (!this.#hasRoom) await new Promise<void>((wake) => this.#wakeMakers.push(wake))
  }

  get isFull(): boolean {
    return !this.#hasRoom
  }

  /** Removes the limit, so that producers no longer wait for the consumer, which may be waiting for them to end. */
  unbound(): void {
    this.#isUnbounded = true
    this.#callMakers()
  }

  /** Marks the end: no more items follow. */
  end(): void {
    this.#isOver = true
    this.#wakeTaker?.()
  }

  /** Returns `undefined` when the queue has ended and everything was taken. */
  async take(): Promise<Item | undefined> {
    while (this.#first === this.#items.length) {
      if (this.#isOver) return undefined
      await new Promise<void>((wake) => {
        this.#wakeTaker = wake
      })
      this.#wakeTaker = undefined
    }
    const item = this.#items[this.#first]
    this.#first += 1
    if (this.#first === this.#items.length || this.#first > HIGH_WATER) {
      this.#items = this.#items.slice(this.#first)
      this.#first = 0
    }
    if (this.#hasRoom) this.#callMakers()
    return item
  }

  get #hasRoom(): boolean {
    return this.#isUnbounded || this.#items.length - this.#first < HIGH_WATER
  }

  #callMakers(): void {
    const makers = this.#wakeMakers
    this.#wakeMakers = []
    for (const wake of makers) wake()
  }
}
