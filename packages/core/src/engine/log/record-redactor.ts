import type { JsonValue, NoteRecord, RecordBody, ThreadState, WaitKind } from '@evener/protocol'
import { isOpenCall } from '../turns/active-run.ts'
import { redactBody } from './redact-body.ts'
import { Redaction, type Redactor } from './redactor.ts'

/** Stands between whoever records something and the log. */
export class RecordRedactor {
  readonly #redact: Redactor
  #isFailing = false
  /** The run that was told last that something was withheld; `null` before the first. */
  #toldRun: string | undefined | null = null

  constructor(redact: Redactor) {
    this.#redact = redact
  }

  body(body: RecordBody, kindOf: (waitId: string) => WaitKind | undefined): RecordBody {
    const redaction = new Redaction(this.#redact)
    const redacted = redactBody(body, redaction, kindOf)
    this.#isFailing ||= redaction.isWithheld
    return redaction.isChanged ? redacted : body
  }

  json<Value extends JsonValue>(value: Value): Value {
    const redaction = new Redaction(this.#redact)
    const redacted = redaction.json(value)
    this.#isFailing ||= redaction.isWithheld
    return redaction.isChanged ? redacted : value
  }

  /** What has to be said, once in a run, when something was withheld since this was last asked. */
  warning(run: string | undefined): NoteRecord | undefined {
    const isDue = this.#isFailing && this.#toldRun !== run
    this.#isFailing = false
    if (!isDue) return undefined
    this.#toldRun = run
    return {
      type: 'note',
      kind: 'warning',
      text: 'The redactor has failed. What it was given is withheld from the record.',
      data: { code: 'withheld' },
    }
  }
}

/** A call waits whose arguments nobody knows but this process. */
export function hasRedactedCall({ messages }: ThreadState): boolean {
  for (const { parts } of messages) {
    for (const part of parts) {
      if (isOpenCall(part) && part.meta?.redacted === true) return true
    }
  }
  return false
}
