import type { JsonObject, JsonValue } from '@inspan/protocol'
import { asInteger, asObject, asText } from '../kit/fields.ts'
import { parseRecord } from '../kit/json-line.ts'
import type { HeldRecord, Run } from '../kit/mapper.ts'

/** Error records of older versions: `error`, `diff_error`, `clineignore_error`. */
const DIAGNOSTIC = /(?:^|_)error$/

/** Reads the flat `say` and `ask` records of older versions. Does not reconstruct their tool activity. */
export class LegacyMessages {
  readonly #run: Run
  /** The text that is being streamed: its id and what was said so far. */
  #part: { readonly id: string; said: string } | undefined
  /** An error that may end the run. What follows decides. */
  #error: { readonly record: HeldRecord; readonly message: string } | undefined

  constructor(run: Run) {
    this.#run = run
  }

  read(record: JsonObject): void {
    this.#error?.record.keep()
    this.#error = undefined
    const kind = asText(record['say']) ?? asText(record['ask'])
    const isSaid = record['type'] === 'say'
    if (isSaid && (kind === 'text' || kind === 'completion_result')) this.#message(record, record['text'])
    else if (!isSaid && kind === 'followup') this.#message(record, questionOf(record['text']))
    else if (isSaid && kind === 'reasoning') this.#reasoning(record)
    else if (isSaid && kind === 'error_retry') this.#retry(record)
    else if (isSaid && kind !== undefined && DIAGNOSTIC.test(kind)) this.#diagnostic(record, kind)
  }

  end(): void {
    const error = this.#error
    if (error === undefined) return
    this.#error = undefined
    error.record.drop('repeats-error')
    this.#run.fail(error.message)
  }

  /** Partial records repeat the whole text so far. */
  #message(record: JsonObject, text: JsonValue | undefined): void {
    if (typeof text !== 'string') return
    const partId = `message-${String(asInteger(record['ts']) ?? asText(record['ts']) ?? '')}`
    if (record['partial'] !== true) {
      this.#part = undefined
      this.#run.text(text, { partId })
      return
    }
    this.#run.consume('partial')
    if (this.#part?.id !== partId) this.#part = { id: partId, said: '' }
    if (!text.startsWith(this.#part.said)) return
    this.#run.textDelta(text.slice(this.#part.said.length), { partId })
    this.#part.said = text
  }

  #reasoning(record: JsonObject): void {
    const text = asText(record['text']) ?? asText(record['reasoning'])
    if (record['partial'] === true || text === undefined) this.#run.consume('reasoning')
    else this.#run.reasoning(text, {})
  }

  #retry(record: JsonObject): void {
    const text = asText(record['text'])
    if (text !== undefined) this.#run.warn(asText(parseRecord(text)?.['errorMessage']) ?? text, 'retry')
  }

  #diagnostic(record: JsonObject, kind: string): void {
    const message = asText(record['text']) ?? `Cline reports: ${kind}`
    this.#error = { record: this.#run.hold([{ type: 'error', message }]), message }
  }
}

/** A question is JSON that also lists the possible answers. */
function questionOf(text: JsonValue | undefined): JsonValue | undefined {
  return asText(asObject(typeof text === 'string' ? parseRecord(text) : text)?.['question']) ?? text
}
