import { InspanError, type JsonValue, type WaitKind } from '@inspan/protocol'
import {
  redactBody,
  type ConfigChangedRecord,
  type NoteRecord,
  type RecordBody,
  type ThreadState,
} from '@inspan/protocol/log'
import { isOpenCall } from '../turns/active-run.ts'
import { RecordRedaction, type Redactor } from './redactor.ts'

const SETTING = 'thread:redacted'

/** Says that a thread was written under redaction. */
export const REDACTED: ConfigChangedRecord = { type: 'config.changed', settings: { [SETTING]: true } }

export function isRedacted({ head }: ThreadState): boolean {
  return head.settings.get(SETTING) === true
}

/** Without a redactor, the agents of such a thread would write down what was to be left out. */
export function requireRedactor(state: ThreadState, redact: Redactor | undefined): void {
  if (redact !== undefined || !isRedacted(state)) return
  const { stream } = state.head
  throw new InspanError('redactor-required', `Thread ${stream} was written under redaction.`, {
    hint: 'Open it with a redactor: `redact`.',
    details: { stream },
  })
}

/** Redacts everything on its way into the log. */
export class RecordRedactor {
  readonly #redact: Redactor
  #isFailing = false
  /** The run of the last warning about withheld text; `null` before the first. */
  #toldRun: string | undefined | null = null

  constructor(redact: Redactor) {
    this.#redact = redact
  }

  body(body: RecordBody, kindOf: (waitId: string) => WaitKind | undefined): RecordBody {
    const redaction = new RecordRedaction(this.#redact)
    const redacted = redactBody(body, redaction, kindOf)
    this.#isFailing ||= redaction.isWithheld
    return redaction.isChanged ? redacted : body
  }

  json<Value extends JsonValue>(value: Value): Value {
    const redaction = new RecordRedaction(this.#redact)
    const redacted = redaction.json(value)
    this.#isFailing ||= redaction.isWithheld
    return redaction.isChanged ? redacted : value
  }

  /** Returns how much of the beginning of a text that goes on can be redacted now. */
  settled(text: string): number {
    try {
      const length = this.#redact.settled?.(text) ?? 0
      return Number.isInteger(length) ? Math.min(Math.max(length, 0), text.length) : 0
    } catch {
      // What cannot be judged waits until it is complete.
      return 0
    }
  }

  /** Returns a warning if something was withheld since the last call; at most one per run. */
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

/** Whether an open call has arguments that are redacted on record, so that only this process knows them. */
export function hasRedactedCall({ messages }: ThreadState): boolean {
  for (const { parts } of messages) {
    for (const part of parts) {
      if (isOpenCall(part) && part.meta?.redacted === true) return true
    }
  }
  return false
}
