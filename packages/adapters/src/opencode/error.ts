import type { JsonValue } from '@inspan/protocol'
import { asObject, asText, firstText } from '../kit/fields.ts'
import type { HeldRecord, Run } from '../kit/mapper.ts'

interface ReportedError {
  readonly message: string
  readonly code?: string
}

/** Reads an error: a name with data, or just a sentence. */
export function readError(error: JsonValue | undefined): ReportedError | undefined {
  const sentence = asText(error)
  if (sentence !== undefined) return { message: sentence }
  const fields = asObject(error)
  if (fields === undefined) return undefined
  const code = firstText(fields, 'name', 'code')
  const message = asText(asObject(fields['data'])?.['message']) ?? asText(fields['message']) ?? code
  if (message === undefined) return undefined
  return code === undefined ? { message } : { message, code }
}

/** An error that may or may not have ended the run. */
export class HeldError {
  readonly code: string | undefined
  readonly #run: Run
  readonly #message: string
  readonly #note: HeldRecord
  /** Accounts for the line itself: an error that fails the run is not emitted as a note. */
  readonly #line: HeldRecord

  constructor(run: Run, { message, code }: ReportedError) {
    this.code = code
    this.#run = run
    this.#message = message
    this.#note = run.hold([{ type: 'error', message, ...(code === undefined ? {} : { code }) }])
    this.#line = run.hold([])
  }

  endedNothing(): void {
    this.#note.keep()
    this.#line.keep()
  }

  endedTheRun(): void {
    this.#note.drop('repeats-error')
    this.#line.keep()
    this.#run.fail(this.#message, this.code)
  }

  /** Called if another record reports the same and more. */
  wasRepeated(): void {
    this.#note.drop('repeats-error')
    this.#line.drop('repeats-error')
  }
}
