/** How many events may wait to be taken before those who make them are asked to wait. */
const HIGH_WATER = 256

/** One taker, several makers who wait while too much is waiting. */
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

  /** Makers: wait for this after having pushed. */
  async room(): Promise<void> {
    while (!this.#hasRoom) await new Promise<void>((wake) => this.#wakeMakers.push(wake))
  }

  get isFull(): boolean {
    return !this.#hasRoom
  }

  /** From now on nobody waits for the taker, who may be waiting for the makers to end. */
  unbound(): void {
    this.#isUnbounded = true
    this.#callMakers()
  }

  /** Nothing more will come. */
  end(): void {
    this.#isOver = true
    this.#wakeTaker?.()
  }

  /** `undefined`: it is over and everything was taken. */
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
