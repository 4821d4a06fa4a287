/** Keeps the beginning and the end of an output, within a number of characters. */
export class OutputWindow {
  readonly #max: number
  #head = ''
  #tail = ''
  #omitted = 0

  constructor(max: number) {
    this.#max = max
  }

  get omitted(): number {
    return this.#omitted
  }

  add(text: string): void {
    const room = Math.floor(this.#max / 4) - this.#head.length
    const first = this.#omitted === 0 && this.#tail === '' && room > 0 ? text.slice(0, room) : ''
    this.#head += first
    this.#tail += text.slice(first.length)
    const most = this.#max - Math.floor(this.#max / 4)
    // Cut at twice the size, so that a flood of small pieces does not copy the end for each of them.
    if (this.#tail.length > 2 * most) this.#cut(most)
  }

  toString(): string {
    const most = this.#max - Math.floor(this.#max / 4)
    if (this.#tail.length > most) this.#cut(most)
    const gap = this.#omitted === 0 ? '' : `\n[${this.#omitted} characters left out]\n`
    return this.#head + gap + this.#tail
  }

  #cut(most: number): void {
    this.#omitted += this.#tail.length - most
    this.#tail = this.#tail.slice(-most)
  }
}
