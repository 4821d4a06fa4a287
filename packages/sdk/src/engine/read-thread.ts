import type { StoredMessage } from '@inspan/protocol'
import { toChatMessage, type ChatMessage } from '@inspan/protocol/chat'
import {
  emptyState,
  reduce,
  REDUCER_VERSION,
  restingState,
  reviveHead,
  storedMessage,
  type ThreadState,
} from '@inspan/protocol/log'
import { MAX_PAGE, type Page, type Store } from '@inspan/protocol/store'
import { inflateMessage, recordsAfter } from '@inspan/core/engine'

/** Returns the state of a thread from its stored head and the records since. Takes nothing and changes nothing. */
export async function readThreadState(store: Store, threadId: string): Promise<ThreadState> {
  const head = await store.readHead(threadId, REDUCER_VERSION)
  let state = head === null ? emptyState(threadId) : restingState(reviveHead(head))
  for await (const record of recordsAfter(store, threadId, state.head.seq)) state = reduce(state, record).state
  return state
}

/** Returns the messages of a thread by their time; messages of the same time stay in their order. */
export async function readChatMessages(store: Store, state: ThreadState): Promise<ChatMessage[]> {
  const stored: StoredMessage[] = []
  if (state.head.lineage.length > 0) {
    for await (const page of pages((cursor) =>
      store.listMessages(state.head.lineage, { order: 'oldest', limit: MAX_PAGE, ...cursor }),
    ))
      stored.push(...page)
  }
  const open = new Map(state.messages.toArray().map((message) => [message.id, storedMessage(message)]))
  const known = new Set(stored.map(({ id }) => id))
  const all = [
    ...stored.map((message) => open.get(message.id) ?? message),
    ...[...open.values()].filter(({ id }) => !known.has(id)),
  ]
  const own = all.filter(({ parentToolCallId }) => parentToolCallId === undefined)
  const whole = await Promise.all(own.map((message) => inflateMessage(store, message)))
  // `sort` is stable. What the model sees keeps the order of the log.
  return whole.sort((a, b) => a.at - b.at).map((message) => toChatMessage(message))
}

/** Reads all pages, one after the other. */
export async function* pages<T>(
  read: (cursor: { readonly cursor?: string }) => Promise<Page<T>>,
): AsyncGenerator<readonly T[], void> {
  let cursor: string | null = null
  do {
    const page: Page<T> = await read(cursor === null ? {} : { cursor })
    yield page.items
    cursor = page.next
  } while (cursor !== null)
}
