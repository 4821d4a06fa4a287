import type { NotificationPriority, NotificationStatus, OMOperationType, SignalContent } from './harness-content.ts'
import type { JsonObject, JsonValue } from './json.ts'
import type { SignalPart } from './message.ts'

const PRIORITIES: readonly NotificationPriority[] = ['low', 'medium', 'high', 'urgent']
const STATUSES: readonly NotificationStatus[] = ['pending', 'delivered', 'seen', 'dismissed', 'archived', 'discarded']
const OPERATIONS: readonly OMOperationType[] = ['observation', 'reflection']

/**
 * Converts a signal into its public form. The part's data is whatever its maker stored, so a field is used only if it
 * has the right type. Required fields have neutral defaults.
 */
export function signalContent(part: SignalPart): SignalContent {
  const { data } = part
  // The model reads a text with markup; the plain message is stored beside it.
  const message = typeof data['message'] === 'string' ? data['message'] : part.text
  switch (part.kind) {
    case 'system_reminder':
      return {
        type: 'system_reminder',
        message,
        ...texts(data, 'reminderType', 'path', 'precedesMessageId', 'gapText', 'timestamp', 'judgeModelId'),
        ...numbers(data, 'gapMs', 'goalMaxTurns'),
        ...(data['goalEvaluation'] === undefined ? {} : { goalEvaluation: data['goalEvaluation'] }),
      }
    case 'state_signal':
      return {
        type: 'state_signal',
        message,
        stateId: text(data, 'stateId'),
        mode: data['mode'] === 'delta' ? 'delta' : 'snapshot',
        ...texts(data, 'id', 'cacheKey'),
        ...numbers(data, 'version'),
      }
    case 'reactive_signal':
      return {
        type: 'reactive_signal',
        message,
        tagName: text(data, 'tagName'),
        ...texts(data, 'id'),
        ...objects(data, 'attributes', 'metadata'),
      }
    case 'notification':
      return {
        type: 'notification',
        message,
        ...texts(data, 'id', 'notificationId', 'source', 'kind'),
        ...oneOf(data, 'priority', PRIORITIES),
        ...oneOf(data, 'status', STATUSES),
        ...objects(data, 'attributes', 'metadata'),
      }
    case 'notification_summary':
      return {
        type: 'notification_summary',
        message,
        pending: number(data, 'pending'),
        bySource: counts(data['bySource']),
        byPriority: counts(data['byPriority']),
        notificationIds: list(data['notificationIds']).filter((id) => typeof id === 'string'),
        ...texts(data, 'id'),
      }
    case 'om_observation_start':
      return {
        type: 'om_observation_start',
        tokensToObserve: number(data, 'tokensToObserve'),
        ...oneOf(data, 'operationType', OPERATIONS),
      }
    case 'om_observation_end':
      return {
        type: 'om_observation_end',
        tokensObserved: number(data, 'tokensObserved'),
        observationTokens: number(data, 'observationTokens'),
        durationMs: number(data, 'durationMs'),
        ...oneOf(data, 'operationType', OPERATIONS),
        ...texts(data, 'observations', 'currentTask', 'suggestedResponse'),
      }
    case 'om_observation_failed':
      return {
        type: 'om_observation_failed',
        error: text(data, 'error'),
        ...numbers(data, 'tokensAttempted'),
        ...oneOf(data, 'operationType', OPERATIONS),
      }
    case 'om_thread_title_updated':
      return {
        type: 'om_thread_title_updated',
        threadId: text(data, 'threadId'),
        newTitle: text(data, 'newTitle'),
        ...texts(data, 'oldTitle'),
      }
    case 'compaction':
      return {
        type: 'compaction',
        messages: number(data, 'messages'),
        tokensBefore: number(data, 'tokensBefore'),
        tokensAfter: number(data, 'tokensAfter'),
      }
  }
}

function text(data: JsonObject, key: string): string {
  const value = data[key]
  return typeof value === 'string' ? value : ''
}

function number(data: JsonObject, key: string): number {
  const value = data[key]
  return typeof value === 'number' ? value : 0
}

function texts<Key extends string>(data: JsonObject, ...keys: readonly Key[]): { [K in Key]?: string } {
  return take(data, keys, (value) => typeof value === 'string')
}

function numbers<Key extends string>(data: JsonObject, ...keys: readonly Key[]): { [K in Key]?: number } {
  return take(data, keys, (value) => typeof value === 'number')
}

function objects<Key extends string>(data: JsonObject, ...keys: readonly Key[]): { [K in Key]?: JsonObject } {
  return take(data, keys, isObject)
}

function oneOf<Key extends string, Value extends string>(
  data: JsonObject,
  key: Key,
  allowed: readonly Value[],
): { [K in Key]?: Value } {
  return take(data, [key], (value): value is Value => allowed.some((name) => name === value))
}

function take<Key extends string, Value extends JsonValue>(
  data: JsonObject,
  keys: readonly Key[],
  fits: (value: JsonValue) => value is Value,
): { [K in Key]?: Value } {
  const taken: { [K in Key]?: Value } = {}
  for (const key of keys) {
    const value = data[key]
    if (value !== undefined && fits(value)) taken[key] = value
  }
  return taken
}

function counts(value: JsonValue | undefined): Record<string, number> {
  const entries = value !== undefined && isObject(value) ? Object.entries(value) : []
  return Object.fromEntries(entries.filter((entry): entry is [string, number] => typeof entry[1] === 'number'))
}

function list(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? (value as readonly JsonValue[]) : []
}

function isObject(value: JsonValue): value is JsonObject {
  return value !== null && typeof value === 'object' && !Array.isArray(value)
}
