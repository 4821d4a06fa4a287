import {
  emptyState,
  EvenerError,
  List,
  MAX_PAGE,
  reduce,
  REDUCER_VERSION,
  storedMessage,
  toHarnessMessage,
  type HarnessMessage,
  type Page,
  type Store,
  type StoredMessage,
  type ThreadState,
} from '@evener/protocol'
import { inflateMessage } from '../engine/blobs.ts'
import { recordsAfter } from '../engine/load-state.ts'

/** The state of a thread that is not open here: its stored head and what was recorded since. Writes nothing. */
export async function readThreadState(store: Store, threadId: string): Promise<ThreadState> {
  if ((await store.getThread(threadId)) === null) throw noSuchThread(threadId)
  const head = await store.readHead(threadId, REDUCER_VERSION)
  let state: ThreadState = head === null ? emptyState(threadId) : { head, messages: List.empty() }
  for await (const record of recordsAfter(store, threadId, state.head.seq)) state = reduce(state, record).state
  return state
}

/** The newest messages, oldest of them first; all of them without a limit. */
export async function readMessages(store: Store, state: ThreadState, limit?: number): Promise<HarnessMessage[]> {
  const wanted = limit ?? Number.POSITIVE_INFINITY
  const newestFirst: StoredMessage[] = []
  for await (const message of newest(store, state, wanted)) {
    if (newestFirst.length >= wanted) break
    if (message.parentToolCallId === undefined) newestFirst.push(message)
  }
  const messages = await Promise.all(newestFirst.map((message) => inflateMessage(store, message)))
  return messages.toReversed().map(toHarnessMessage)
}

export async function readFirstUserMessage(store: Store, state: ThreadState): Promise<HarnessMessage | null> {
  let cursor: string | null = null
  do {
    const from: { cursor?: string } = cursor === null ? {} : { cursor }
    const page = await store.listMessages(state.head.lineage, { order: 'oldest', limit: 10, ...from })
    const found = page.items.find(({ role }) => role === 'user')
    if (found !== undefined) return toHarnessMessage(await inflateMessage(store, found))
    cursor = page.next
  } while (cursor !== null)
  return null
}

async function* newest(store: Store, state: ThreadState, wanted: number): AsyncGenerator<StoredMessage> {
  const open = state.messages.toArray().toReversed()
  const openIds = new Set(open.map(({ id }) => id))
  for (const message of open) yield storedMessage(message)
  const limit = Math.min(MAX_PAGE, wanted)
  let cursor: string | null = null
  do {
    const from: { cursor?: string } = cursor === null ? {} : { cursor }
    const page = await store.listMessages(state.head.lineage, { order: 'newest', limit, ...from })
    for (const message of page.items) if (!openIds.has(message.id)) yield message
    cursor = page.next
  } while (cursor !== null)
}

export function noSuchThread(threadId: string): EvenerError {
  return new EvenerError('not-found', `There is no thread "${threadId}".`, { details: { threadId } })
}

export async function readResourceIds(store: Store): Promise<string[]> {
  const ids: string[] = []
  let cursor: string | null = null
  do {
    const page: Page<string> = await store.listResourceIds(cursor === null ? {} : { cursor })
    ids.push(...page.items)
    cursor = page.next
  } while (cursor !== null)
  return ids
}
