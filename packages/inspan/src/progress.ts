import type { Terminal } from './command.ts'

/** What takes less time needs no progress. */
const QUIET_MS = 1000
const EVERY_MS = 200

/** One line on a terminal that says how far a long command is. Elsewhere nothing is printed. */
export class Progress implements Disposable {
  readonly #terminal: Pick<Terminal, 'isTty'>
  readonly #write: (text: string) => void
  #quietSince = Date.now()
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

  /** Shows the text after a second, or instead of the one that is shown. */
  show(text: string): void {
    this.#text = text
    if (!this.#terminal.isTty || this.#timer !== undefined) return
    const waitMs = Math.max(QUIET_MS - (Date.now() - this.#quietSince), EVERY_MS)
    this.#timer = setTimeout(() => this.#paint(), waitMs)
  }

  /** Shows the text at once, before work that keeps the process from doing anything else. */
  showNow(text: string): void {
    this.#text = text
    clearTimeout(this.#timer)
    if (this.#terminal.isTty) this.#paint()
  }

  /** Removes the line, so that something else can be printed. */
  hide(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#quietSince = Date.now()
    if (this.#shown !== '') this.#write('\r\x1b[K')
    this.#shown = ''
  }

  [Symbol.dispose](): void {
    this.hide()
  }

  #paint(): void {
    this.#timer = undefined
    if (this.#text === this.#shown) return
    this.#shown = this.#text
    const columns = process.stderr.columns ?? 80
    this.#write(`\r\x1b[K${this.#text.slice(0, columns - 1)}`)
  }
}
