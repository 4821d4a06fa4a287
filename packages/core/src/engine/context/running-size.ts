import type { StoredMessage } from '@inspan/protocol'

/** Sums up sizes of messages. Only what has changed since the last time is counted again. */
export class RunningSize {
  readonly #sizeOf: (message: StoredMessage) => number
  #messages: readonly StoredMessage[] = []
  readonly #sums: number[] = []

  constructor(sizeOf: (message: StoredMessage) => number) {
    this.#sizeOf = sizeOf
  }

  of(messages: readonly StoredMessage[]): number {
    const known = this.#messages
    let index = 0
    const most = Math.min(known.length, messages.length)
    while (index < most && known[index] === messages[index]) index++
    this.#sums.length = index
    let sum = this.#sums[index - 1] ?? 0
    for (; index < messages.length; index++) {
      sum += this.#sizeOf(messages[index] as StoredMessage)
      this.#sums.push(sum)
    }
    this.#messages = messages
    return sum
  }
}
