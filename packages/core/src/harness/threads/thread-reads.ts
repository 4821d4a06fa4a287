import { InspanError, type StoredMessage } from '@inspan/protocol'
import { toHarnessMessage, type HarnessMessage } from '@inspan/protocol/harness'
import { lineageUpTo, storedMessage, type ThreadState } from '@inspan/protocol/log'
import { MAX_PAGE, type PageRequest, type Store } from '@inspan/protocol/store'
import { itemsOf } from '../../common/items-of.ts'
import { inflateMessage } from '../../engine/index.ts'
import { aText, defined } from '@inspan/protocol/internal'
import { aLimit, givenFields } from '../checks/check-given.ts'

/** A list with the cursor of the next page; `null` at the end. */
export type Listed<T> = T[] & { readonly next: string | null }

export function listed<T>(items: T[], next: string | null): Listed<T> {
  return Object.defineProperty(items, 'next', { value: next }) as Listed<T>
}

export interface MessageListQuery {
  /** Default: 1,000. */
  readonly limit?: number
  /** `next` of the previous page, which holds newer messages. */
  readonly cursor?: string
}

/** Checks which page is asked for and returns only that, without other fields of the query. */
export function checkPage(query: PageRequest, call: string): PageRequest {
  const { cursor, limit } = givenFields(query, call, {}, { limit: aLimit, cursor: aText })
  return defined({ limit, cursor })
}

/** Returns the newest messages, oldest first; with a cursor those before it. */
export async function readMessages(
  store: Store,
  state: ThreadState,
  { limit = MAX_PAGE, cursor }: MessageListQuery = {},
): Promise<Listed<HarnessMessage>> {
  const newestFirst: StoredMessage[] = []
  let next: string | null = null
  for await (const message of newest(store, state, { limit, before: orderOf(cursor) })) {
    if (message.parentToolCallId !== undefined) continue
    if (newestFirst.length >= limit) {
      next = String(newestFirst.at(-1)?.order ?? message.order + 1)
      break
    }
    newestFirst.push(message)
  }
  const messages = await Promise.all(newestFirst.map((message) => inflateMessage(store, state.head.lineage, message)))
  return listed(messages.toReversed().map(toHarnessMessage), next)
}

/** Returns the order before which the page begins: that of the message the last page ended with. */
function orderOf(cursor: string | undefined): number {
  if (cursor === undefined) return Number.POSITIVE_INFINITY
  if (/^[1-9]\d{0,15}$/.test(cursor)) return Number(cursor)
  throw new InspanError('invalid-input', 'This is not a cursor of a list of messages.', {
    hint: 'Pass on `next` of the page before.',
    details: { cursor },
  })
}

export async function readFirstUserMessage(store: Store, state: ThreadState): Promise<HarnessMessage | null> {
  const { lineage } = state.head
  const oldest = itemsOf((from) => store.listMessages(lineage, { order: 'oldest', limit: 10, ...from }))
  for await (const message of oldest) {
    if (isUsers(message)) return toHarnessMessage(await inflateMessage(store, lineage, message))
  }
  return null
}

/** Signals are stored with the role of the user, but are not the user's words. */
function isUsers({ parts, role }: StoredMessage): boolean {
  return role === 'user' && parts.some(({ type }) => type !== 'signal')
}

async function* newest(
  store: Store,
  state: ThreadState,
  { limit, before }: { readonly limit: number; readonly before: number },
): AsyncGenerator<StoredMessage> {
  const open = state.messages.toArray().toReversed()
  const openIds = new Set(open.map(({ id }) => id))
  for (const message of open) if (message.order < before) yield storedMessage(message)
  const { lineage } = state.head
  const older = before === Number.POSITIVE_INFINITY ? lineage : lineageUpTo(lineage, before - 1)
  // One more than wanted shows whether there is more.
  const pageSize = Math.min(MAX_PAGE, limit + 1)
  const stored = itemsOf((from) => store.listMessages(older, { order: 'newest', limit: pageSize, ...from }))
  for await (const message of stored) if (!openIds.has(message.id)) yield message
}

export async function readResourceIds(store: Store, query: PageRequest = {}): Promise<Listed<string>> {
  const { limit = MAX_PAGE, ...from } = checkPage(query, 'getKnownResourceIds({ limit?, cursor? })')
  const page = await store.listResourceIds({ ...from, limit: Math.min(limit, MAX_PAGE) })
  return listed([...page.items], page.next)
}
