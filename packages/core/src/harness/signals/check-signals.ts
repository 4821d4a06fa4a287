import { aText, anObject, either, oneOf, words, type FieldRule } from '@inspan/protocol/internal'
import { aJson, checkGiven, checkOptional, givenFields, isFields } from '../checks/check-given.ts'
import { requestContextOf } from '../agents/request-context.ts'
import { PRIORITIES, type NotificationInput } from './notification.ts'
import type { SignalInput, SignalRouting, UserSignalInput } from './send-signal.ts'
import { SIGNAL_TYPES, type Signal } from './signal-part.ts'
import type { StateSignal } from './state-lane.ts'
import type { SystemReminder } from './system-reminder.ts'

type Loose<T> = { readonly [Key in keyof T]?: T[Key] | undefined }

/* All input is checked before a thread is created for it. */

const jsonFields: FieldRule = {
  wanted: `an object of ${aJson.wanted}`,
  accepts: (value) => isFields(value) && aJson.accepts(value),
}
const EXTRAS = { attributes: jsonFields, metadata: jsonFields } as const
const bytes: FieldRule = { wanted: 'bytes', accepts: (value) => value instanceof Uint8Array }

export function checkSignal(input: SignalInput): void {
  const optional = { id: aText, tagName: aText, ...EXTRAS, providerOptions: jsonFields }
  const given: Loose<Signal & UserSignalInput> = givenFields(input, 'sendSignal({ type, contents })', {}, optional)
  if ('type' in given) {
    checkGiven(given.type, 'type', oneOf(...SIGNAL_TYPES))
    checkContents(given.contents, 'contents')
  } else {
    checkContents(given.content, 'content')
    requestContextOf(given.requestContext)
    checkRouting(given)
  }
}

export function checkRouting(routing: Loose<SignalRouting>): void {
  const call = 'the routing { ifActive?, ifIdle? }'
  const { ifActive, ifIdle } = givenFields(routing, call, {}, { ifActive: anObject, ifIdle: anObject })
  checkOptional(ifActive?.behavior, 'ifActive.behavior', oneOf('deliver', 'persist', 'discard'))
  checkOptional(ifIdle?.behavior, 'ifIdle.behavior', oneOf('wake', 'persist', 'discard'))
}

export function checkStateSignal(signal: StateSignal): void {
  const required = { id: aText, cacheKey: aText, contents: aText }
  const optional = { tagName: aText, mode: oneOf('snapshot', 'delta'), value: aJson, delta: aJson, ...EXTRAS }
  givenFields(signal, 'sendStateSignal({ id, cacheKey, contents })', required, optional)
}

export function checkReminder(reminder: SystemReminder): void {
  const required = { message: aText, reminderType: aText }
  const optional = { role: oneOf('user', 'assistant', 'system'), ...EXTRAS }
  givenFields(reminder, 'saveSystemReminderMessage({ message, reminderType })', required, optional)
}

export function checkNotification(input: NotificationInput): void {
  const required = { source: aText, kind: aText, summary: aText }
  const keys = { sourceId: aText, dedupeKey: aText, coalesceKey: aText }
  const optional = { priority: oneOf(...PRIORITIES), ...keys, payload: aJson, ...EXTRAS }
  givenFields(input, 'sendNotificationSignal({ source, kind, summary })', required, optional)
}

function checkContents(contents: unknown, field: string): void {
  if (!Array.isArray(contents) || contents.length === 0) return checkGiven(contents, field, aText)
  contents.forEach((piece: unknown, index) => {
    const at = `${field}[${index}]`
    checkGiven(piece, at, anObject)
    const { data, filename, mediaType, text, type } = piece as Readonly<Record<string, unknown>>
    checkGiven(type, `${at}.type`, oneOf('text', 'file'))
    if (type === 'text') return checkGiven(text, `${at}.text`, words)
    checkGiven(data, `${at}.data`, either(aText, bytes))
    checkGiven(mediaType, `${at}.mediaType`, aText)
    checkOptional(filename, `${at}.filename`, aText)
  })
}
