import type { JsonObject } from '@inspan/protocol'
import { cleanText } from '../kit/clean-text.ts'
import type { Dialect, DialectReader, HeldRecord, Run, RunEnd } from '../kit/mapper.ts'
import { toolTable } from '../kit/tool-table.ts'

/**
 * Reads `agy --print`, best effort: the CLI prints the answer as plain text and nothing about what it did. Diagnostics
 * are recognised by how they begin, all other output is `unknown`. In the chat the text is the answer.
 */
export const antigravityDialect: Dialect = {
  id: 'antigravity',
  version: 1,
  tools: toolTable({}),
  open: (run) => new AntigravityReader(run),
}

/** A level at the beginning of a line, as programs and loggers write it. */
const ERROR = /^(?:\[(?:error|fatal)\]:?|(?:error|fatal|panic):)\s*(?<message>\S.*)$/is
const WARNING = /^(?:\[warn(?:ing)?\]:?|warn(?:ing)?:)\s*(?<message>\S.*)$/is
/** The id of the one text that the CLI prints. */
const PART = 'print'

interface HeldErrorRecord {
  readonly record: HeldRecord
  readonly message: string
}

class AntigravityReader implements DialectReader {
  readonly #run: Run
  #hasSpoken = false
  #blanks = 0
  /** The last line of output, if it is an error that may end the run. What follows decides. */
  #error: HeldErrorRecord | undefined

  constructor(run: Run) {
    this.#run = run
  }

  record(record: JsonObject): void {
    this.#goOn()
    this.#say(JSON.stringify(record))
  }

  text(text: string): void {
    this.#goOn()
    const line = cleanText(text).trim()
    const message = ERROR.exec(line)?.groups?.['message']
    if (message !== undefined) this.#error = { record: this.#run.hold([{ type: 'error', message }]), message }
    else if (!this.#warn(line)) this.#say(text)
  }

  /** Counts blank lines, which separate paragraphs. */
  blank(): void {
    this.#blanks += 1
  }

  /** Warnings only: the exit code tells what ended the run, and these lines are quoted with it. */
  stderr(text: string): void {
    this.#warn(cleanText(text).trim())
  }

  end(end: RunEnd): void {
    if (this.#hasSpoken) this.#run.emit({ type: 'text-delta', text: '', partId: PART, meta: { end: true } })
    const error = this.#error
    if (error === undefined || end.aborted === true || end.exitCode === 0) return
    error.record.drop('repeats-error')
    this.#run.fail(error.message)
  }

  #warn(line: string): boolean {
    const warning = WARNING.exec(line)?.groups?.['message']
    if (warning !== undefined) this.#run.warn(warning)
    return warning !== undefined
  }

  #goOn(): void {
    this.#error?.record.keep()
    this.#error = undefined
  }

  #say(text: string): void {
    // In front of the next line: the last one has none, as the answer itself.
    const before = this.#hasSpoken ? '\n'.repeat(this.#blanks + 1) : ''
    this.#hasSpoken = true
    this.#blanks = 0
    this.#run.emit({ type: 'text-delta', text: `${before}${text}`, partId: PART })
  }
}
