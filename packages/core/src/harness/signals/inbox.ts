import type { JsonObject, JsonValue, Part } from '@inspan/protocol'
import type { NotificationStatus } from '@inspan/protocol/harness'
import { defined } from '@inspan/protocol/internal'
import { NOTIFICATION_SETTING, type ThreadState } from '@inspan/protocol/log'
import type { ControlFact } from '../../engine/index.ts'
import { priorityRank, type NotificationRecord } from './notification.ts'
import { ToolRefusal } from '../tools/tool-input.ts'
import { signalPart } from './signal-part.ts'
import type { ThreadPort } from './thread-port.ts'

/** The most that are kept. Notifications that were read go first, then those of the lowest priority. */
export const INBOX_LIMIT = 100
const SUMMARY_CHARS = 2_000
const PAYLOAD_CHARS = 8_000

/**
 * The notifications of one thread. Each is a setting of the thread: durable, written by itself and bounded in number
 * and size. A rewind does not take it back, since what happened outside stays true. A fork inherits settings, but not
 * notifications meant for its parent.
 */
export class Inbox {
  readonly #port: ThreadPort

  constructor(port: ThreadPort) {
    this.#port = port
  }

  /** Oldest first. */
  list(): readonly NotificationRecord[] {
    return notificationsOf(this.#port.state)
  }

  get(id: string): NotificationRecord {
    const found = this.list().find((each) => each.id === id)
    if (found !== undefined) return found
    throw new ToolRefusal(`There is no notification "${id}" in this thread's inbox.`)
  }

  pending(): readonly NotificationRecord[] {
    return this.list().filter(({ status }) => status === 'pending')
  }

  async put(...records: readonly NotificationRecord[]): Promise<void> {
    await this.#port.record([putFact(this.#port.state, records)])
  }

  async setStatus(id: string, status: NotificationStatus, now: number): Promise<NotificationRecord> {
    const { isDue: _isDue, ...record } = this.get(id)
    const changed = { ...record, status, updatedAt: now }
    await this.put(changed)
    return changed
  }
}

/** Oldest first. */
export function notificationsOf({ head }: ThreadState): readonly NotificationRecord[] {
  const { settings, stream } = head
  return [...settings.entries()]
    .flatMap(([key, value]) => (key.startsWith(NOTIFICATION_SETTING) ? [value as unknown as NotificationRecord] : []))
    .filter(({ threadId }) => threadId === stream)
    .sort((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1))
}

/** Returns the fact that keeps these notifications and removes those beyond the limit. */
export function putFact(state: ThreadState, records: readonly NotificationRecord[]): ControlFact {
  const ids = new Set(records.map(({ id }) => id))
  const kept = [...notificationsOf(state).filter(({ id }) => !ids.has(id)), ...records]
  const removed = kept.sort(leastNeededLast).slice(INBOX_LIMIT)
  return {
    type: 'config.changed',
    settings: Object.fromEntries([
      ...records.map((record) => [NOTIFICATION_SETTING + record.id, toSetting(record)] as const),
      ...removed.map(({ id }) => [NOTIFICATION_SETTING + id, null] as const),
    ]),
  }
}

/** Returns the whole notification as the model reads it. */
export function notificationPart(record: NotificationRecord): Part {
  const { attributes, id, kind, metadata, priority, source, summary } = record
  return signalPart(
    'notification',
    { tagName: 'notification', message: summary, attributes: { ...attributes, id, source, kind, priority } },
    {
      id,
      notificationId: id,
      source,
      kind,
      priority,
      status: 'delivered',
      ...defined({ attributes, metadata }),
    },
  )
}

export function summaryPart(records: readonly NotificationRecord[], id: string): Part {
  const bySource = counted(records.map(({ source }) => source))
  const byPriority = counted(records.map(({ priority }) => priority))
  const sources = Object.entries(bySource).map(([source, count]) => `${source} (${count})`)
  const one = records.length === 1
  const message = `${records.length} unread notification${one ? '' : 's'} from ${sources.join(', ')}. Read ${one ? 'it' : 'them'} with the tool "notification-inbox".`
  return signalPart(
    'notification_summary',
    { tagName: 'notification-summary', message, attributes: { pending: records.length } },
    { id, pending: records.length, bySource, byPriority, notificationIds: records.map((record) => record.id) },
  )
}

function counted(words: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const word of words) counts[word] = (counts[word] ?? 0) + 1
  return counts
}

function leastNeededLast(a: NotificationRecord, b: NotificationRecord): number {
  const isRead = ({ status }: NotificationRecord): number => (status === 'pending' ? 0 : 1)
  return isRead(a) - isRead(b) || priorityRank(b.priority) - priorityRank(a.priority) || b.createdAt - a.createdAt
}

function toSetting(record: NotificationRecord): JsonObject {
  const { payload, summary, ...rest } = record
  const size = payload === undefined ? 0 : JSON.stringify(payload).length
  const kept: JsonValue | undefined = size > PAYLOAD_CHARS ? { tooLarge: size } : payload
  return {
    ...(rest as unknown as JsonObject),
    summary: summary.slice(0, SUMMARY_CHARS),
    ...defined({ payload: kept }),
  }
}
