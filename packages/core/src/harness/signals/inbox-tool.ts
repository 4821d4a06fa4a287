import type { JsonObject } from '@inspan/protocol'
import type { RunnableTool, ToolOutcome } from '@inspan/protocol/driver'
import type { NotificationStatus } from '@inspan/protocol/harness'
import { defined } from '@inspan/protocol/internal'
import { explaining, optionalOneOf, optionalText, requiredText, ToolRefusal } from '../tools/tool-input.ts'
import type { Inbox } from './inbox.ts'
import type { NotificationRecord } from './notification.ts'

const ACTIONS = ['list', 'read', 'markSeen', 'dismiss', 'archive', 'search'] as const
const STATUSES: readonly NotificationStatus[] = ['pending', 'delivered', 'seen', 'dismissed', 'archived', 'discarded']
const NEXT: Readonly<Record<'read' | 'markSeen' | 'dismiss' | 'archive', NotificationStatus>> = {
  read: 'seen',
  markSeen: 'seen',
  dismiss: 'dismissed',
  archive: 'archived',
}
const LIMIT = 20

/** The tool by which an agent reads its notifications. */
export function inboxTool(inbox: Inbox, now: () => number = Date.now): RunnableTool {
  return explaining({
    name: 'notification-inbox',
    description:
      'Read and tidy the notifications of this thread: list or search them, read one in full, mark one as seen, ' +
      'dismiss or archive it.',
    inputSchema: {
      type: 'object',
      properties: {
        action: { type: 'string', enum: [...ACTIONS] },
        id: { type: 'string' },
        query: { type: 'string' },
        status: { type: 'string', enum: [...STATUSES] },
        source: { type: 'string' },
      },
      required: ['action'],
    },
    category: 'other',
    isIdempotent: true,
    execute: async (input) => act(inbox, input, now()),
  })
}

async function act(inbox: Inbox, input: JsonObject, now: number): Promise<ToolOutcome> {
  const action = optionalOneOf(input, 'action', ACTIONS)
  switch (action) {
    case undefined:
      throw new ToolRefusal(`"action" must be one of ${ACTIONS.join(', ')}.`)
    case 'list':
      return listed(matching(inbox, input))
    case 'search': {
      const words = requiredText(input, 'query').toLowerCase().split(/\s+/)
      const holds = (record: NotificationRecord): boolean => {
        const text = JSON.stringify([record.source, record.kind, record.summary, record.payload ?? null]).toLowerCase()
        return words.every((word) => text.includes(word))
      }
      return listed(matching(inbox, input).filter(holds))
    }
    default: {
      const id = requiredText(input, 'id')
      const known = inbox.get(id)
      // Reading an archived or dismissed notification does not bring it back.
      const isAway = action === 'read' && (known.status === 'archived' || known.status === 'dismissed')
      const record = isAway ? known : await inbox.setStatus(id, NEXT[action], now)
      const content = action === 'read' ? record.summary : `The notification is ${record.status} now.`
      const notification = action === 'read' ? inFull(record) : inShort(record)
      return { result: { content, notification, isError: false } }
    }
  }
}

/** Dismissed and archived notifications are shown only when their status is asked for. */
function matching(inbox: Inbox, input: JsonObject): readonly NotificationRecord[] {
  const status = optionalOneOf(input, 'status', STATUSES)
  const source = optionalText(input, 'source')
  return inbox.list().filter((record) => {
    const isAway = record.status === 'dismissed' || record.status === 'archived'
    return (status === undefined ? !isAway : record.status === status) && (source ?? record.source) === record.source
  })
}

function listed(records: readonly NotificationRecord[]): ToolOutcome {
  const shown = records.toReversed().slice(0, LIMIT).map(inShort)
  const content =
    records.length === 0 ? 'There are no such notifications.' : `${records.length} notifications, newest first.`
  return { result: { content, notifications: shown, total: records.length, isError: false } }
}

function inShort({ createdAt, id, kind, priority, source, status, summary }: NotificationRecord): JsonObject {
  return { id, source, kind, priority, status, summary, createdAt: new Date(createdAt).toISOString() }
}

function inFull(record: NotificationRecord): JsonObject {
  const { coalescedCount, metadata, payload } = record
  return {
    ...inShort(record),
    coalescedCount,
    ...defined({ payload, metadata }),
  }
}
