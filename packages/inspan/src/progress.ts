import type { Terminal } from './command.ts'

/** What takes less time needs no progress. */
const QUIET_MS = 1000
const EVERY_MS = 200

/** One line on a terminal that says how far a long command is. Elsewhere nothing is printed. */
export class Progress implements Disposable {
  readonly #terminal: Pick<Terminal, 'isTty'>
  readonly #write: (text: string) => void
  readonly #startedAt = Date.now()
  #text = ''
  #shown = ''
  #timer: NodeJS.Timeout | undefined

  constructor(
    terminal: Pick<Terminal, 'isTty'>,
    write: (text: string) => void = (text) => void process.stderr.write(text),
  ) {
    this.#terminal = terminal
    this.#write = write
  }

  show(text: string): void {
    this.#text = text
    if (!this.#terminal.isTty || this.#timer !== undefined) return
    const waitMs = Math.max(QUIET_MS - (Date.now() - this.#startedAt), EVERY_MS)
    this.#timer = setTimeout(() => this.#paint(), waitMs)
  }

  /** Removes the line. */
  [Symbol.dispose](): void {
    clearTimeout(this.#timer)
    if (this.#shown !== '') this.#write('\r\x1b[K')
  }

  #paint(): void {
    this.#timer = undefined
    if (this.#text === this.#shown) return
    this.#shown = this.#text
    const columns = process.stderr.columns ?? 80
    this.#write(`\r\x1b[K${this.#text.slice(0, columns - 1)}`)
  }
}
