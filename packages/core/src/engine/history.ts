import { storedMessage, type HistoryQuery, type Store, type StoredMessage } from '@evener/protocol'
import { inflateMessage } from './blobs.ts'
import type { ThreadLog } from './thread-log.ts'

/** The conversation as an agent sees it: the view holds what is sealed, the state what belongs to the open run. */
export async function* readHistory(store: Store, log: ThreadLog, query: HistoryQuery): AsyncGenerator<StoredMessage> {
  const { head, messages } = log.state
  const open = await Promise.all(messages.toArray().map((each) => inflateMessage(store, storedMessage(each))))
  const openIds = new Set(open.map((message) => message.id))
  if (query.order === 'newest') yield* open.toReversed()
  let cursor: string | null = null
  do {
    const page = await store.listMessages(head.lineage, { order: query.order, ...(cursor === null ? {} : { cursor }) })
    for (const message of page.items) {
      if (!openIds.has(message.id) && message.order > (query.after ?? 0)) yield await inflateMessage(store, message)
    }
    cursor = page.next
  } while (cursor !== null)
  if (query.order === 'oldest') yield* open
}
