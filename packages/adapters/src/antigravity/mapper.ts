import type { JsonObject } from '@evener/protocol'
import { cleanText } from '../kit/clean-text.ts'
import type { Dialect, DialectReader, HeldRecord, Run, RunEnd } from '../kit/mapper.ts'
import { toolTable } from '../kit/tool-table.ts'

/**
 * `antigravity --print`. It prints the answer as plain text and nothing about what it did, so this is the best that can be
 * done: diagnostics are recognised by how they begin, everything else is `unknown`. In the chat the text is the answer.
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
/** The one text that the program says. */
const PART = 'print'

interface HeldError {
  readonly record: HeldRecord
  readonly message: string
}

class AntigravityReader implements DialectReader {
  readonly #run: Run
  #hasSpoken = false
  #blanks = 0
  /** The last line of each stream, if it is an error: one that ends the run, or nothing, as what follows tells. */
  readonly #errors: { output: HeldError | undefined; diagnostics: HeldError | undefined } = {
    output: undefined,
    diagnostics: undefined,
  }

  constructor(run: Run) {
    this.#run = run
  }

  record(record: JsonObject): void {
    this.#goOn('output')
    this.#say(JSON.stringify(record))
  }

  text(text: string): void {
    if (!this.#diagnose(text, 'output')) this.#say(text)
  }

  /** Between paragraphs. */
  blank(): void {
    this.#blanks += 1
  }

  stderr(text: string): void {
    this.#diagnose(text, 'diagnostics')
  }

  end(end: RunEnd): void {
    if (this.#hasSpoken) this.#run.emit({ type: 'text-delta', text: '', partId: PART, meta: { end: true } })
    const error = this.#errors.diagnostics ?? this.#errors.output
    if (error === undefined || end.aborted === true || end.exitCode === 0) return
    error.record.drop('repeats-error')
    this.#run.fail(error.message)
  }

  #diagnose(text: string, stream: 'output' | 'diagnostics'): boolean {
    const line = cleanText(text).trim()
    const message = ERROR.exec(line)?.groups?.['message']
    const warning = message === undefined ? WARNING.exec(line)?.groups?.['message'] : undefined
    this.#goOn(stream)
    if (message !== undefined) this.#errors[stream] = { record: this.#run.hold([{ type: 'error', message }]), message }
    else if (warning !== undefined) this.#run.warn(warning)
    return message !== undefined || warning !== undefined
  }

  #goOn(stream: 'output' | 'diagnostics'): void {
    this.#errors[stream]?.record.keep()
    this.#errors[stream] = undefined
  }

  #say(text: string): void {
    const before = this.#hasSpoken ? '\n'.repeat(this.#blanks) : ''
    this.#hasSpoken = true
    this.#blanks = 0
    this.#run.emit({ type: 'text-delta', text: `${before}${text}\n`, partId: PART })
  }
}
