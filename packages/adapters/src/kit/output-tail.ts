/** The last lines, within bounds, that a CLI printed outside its protocol, to be quoted in an error at its end. */
export class OutputTail {
  readonly #lines: string[] = []
  #length = 0

  push(line: string): void {
    const kept = line.length > MAX_LINE ? `${line.slice(0, MAX_LINE)}…` : line
    this.#lines.push(kept)
    this.#length += kept.length
    while (this.#lines.length > MAX_LINES || (this.#length > MAX_LENGTH && this.#lines.length > 1)) {
      this.#length -= this.#lines.shift()?.length ?? 0
    }
  }

  get text(): string {
    return this.#lines.join('\n')
  }
}

const MAX_LINES = 40
const MAX_LINE = 2_000
const MAX_LENGTH = 8_000
