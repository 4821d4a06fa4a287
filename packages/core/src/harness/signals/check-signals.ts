import {
  givenFields,
  givenJson,
  givenList,
  givenOneOf,
  givenText,
  givenWords,
  optionalFields,
  optionalJson,
  optionalText,
} from '../checks/check-given.ts'
import { requestContextOf } from '../agents/request-context.ts'
import { PRIORITIES, type NotificationInput } from './notification.ts'
import type { SignalInput, SignalRouting, UserSignalInput } from './send-signal.ts'
import { SIGNAL_TYPES, type Signal } from './signal-part.ts'
import type { StateSignal } from './state-lane.ts'
import type { SystemReminder } from './system-reminder.ts'

type Loose<T> = { readonly [Key in keyof T]?: T[Key] | undefined }

/* All input is checked before a thread is created for it. */

export function checkSignal(input: SignalInput): void {
  const given: Loose<Signal & UserSignalInput> = givenFields(input, 'sendSignal({ type, contents })')
  if ('type' in given) {
    givenOneOf(given.type, 'type', SIGNAL_TYPES)
    checkContents(given.contents, 'contents')
  } else {
    checkContents(given.content, 'content')
    requestContextOf(given.requestContext)
    checkRouting(given)
  }
  optionalText(given.id, 'id')
  optionalText(given.tagName, 'tagName')
  checkExtras(given)
  checkJsonFields(given.providerOptions, 'providerOptions')
}

export function checkRouting(routing: Loose<SignalRouting>): void {
  const { ifActive, ifIdle } = givenFields(routing, 'the routing { ifActive?, ifIdle? }')
  const active = optionalFields(ifActive, 'ifActive')?.['behavior']
  if (active !== undefined) givenOneOf(active, 'ifActive.behavior', ['deliver', 'persist', 'discard'])
  const idle = optionalFields(ifIdle, 'ifIdle')?.['behavior']
  if (idle !== undefined) givenOneOf(idle, 'ifIdle.behavior', ['wake', 'persist', 'discard'])
}

export function checkStateSignal(signal: StateSignal): void {
  const given = givenFields(signal, 'sendStateSignal({ id, cacheKey, contents })')
  givenText(given.id, 'id')
  givenText(given.cacheKey, 'cacheKey')
  givenText(given.contents, 'contents')
  optionalText(given.tagName, 'tagName')
  if (given.mode !== undefined) givenOneOf(given.mode, 'mode', ['snapshot', 'delta'])
  optionalJson(given.value, 'value')
  optionalJson(given.delta, 'delta')
  checkExtras(given)
}

export function checkReminder(reminder: SystemReminder): void {
  const given = givenFields(reminder, 'saveSystemReminderMessage({ message, reminderType })')
  givenText(given.message, 'message')
  givenText(given.reminderType, 'reminderType')
  if (given.role !== undefined) givenOneOf(given.role, 'role', ['user', 'assistant', 'system'])
  checkExtras(given)
}

export function checkNotification(input: NotificationInput): void {
  const given = givenFields(input, 'sendNotificationSignal({ source, kind, summary })')
  givenText(given.source, 'source')
  givenText(given.kind, 'kind')
  givenText(given.summary, 'summary')
  if (given.priority !== undefined) givenOneOf(given.priority, 'priority', PRIORITIES)
  optionalText(given.sourceId, 'sourceId')
  optionalText(given.dedupeKey, 'dedupeKey')
  optionalText(given.coalesceKey, 'coalesceKey')
  optionalJson(given.payload, 'payload')
  checkExtras(given)
}

function checkExtras({ attributes, metadata }: { readonly attributes?: unknown; readonly metadata?: unknown }): void {
  checkJsonFields(attributes, 'attributes')
  checkJsonFields(metadata, 'metadata')
}

function checkJsonFields(value: unknown, field: string): void {
  if (optionalFields(value, field) !== undefined) givenJson(value, field)
}

function checkContents(contents: unknown, field: string): void {
  if (!Array.isArray(contents) || contents.length === 0) {
    givenText(contents, field)
    return
  }
  givenList(contents, field).forEach((piece, index) => {
    const at = `${field}[${index}]`
    const { data, filename, mediaType, text, type } = optionalFields(piece, at) ?? {}
    if (givenOneOf(type, `${at}.type`, ['text', 'file']) === 'text') givenWords(text, `${at}.text`)
    else {
      if (!(data instanceof Uint8Array)) givenText(data, `${at}.data`)
      givenText(mediaType, `${at}.mediaType`)
      optionalText(filename, `${at}.filename`)
    }
  })
}
