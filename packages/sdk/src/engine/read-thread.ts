import { isShownOnly, type StoredMessage } from '@inspan/protocol'
import { toChatMessage, type ChatMessage } from '@inspan/protocol/chat'
import { storedMessage, type Lineage, type OmPointer, type ThreadState } from '@inspan/protocol/log'
import { MAX_PAGE, type Page, type Store } from '@inspan/protocol/store'
import { inflateMessage, isDead } from '@inspan/core/engine'

/**
 * Returns the threads in which something waits or in which a process died, by their resource. Threads that living
 * processes are at are theirs.
 */
export async function leftThreads(store: Store): Promise<Map<string, string[]>> {
  const open = new Set<string>()
  for await (const rows of pages((cursor) => store.listWaits({ state: 'pending', limit: MAX_PAGE, ...cursor })))
    for (const { stream } of rows) open.add(stream)
  for await (const owners of pages((cursor) => store.listOwners({ limit: MAX_PAGE, ...cursor }))) {
    for (const owner of owners.filter((each) => isDead(each, Date.now()))) {
      for await (const streams of pages((cursor) => store.listOwned({ owner: owner.id, limit: MAX_PAGE, ...cursor })))
        for (const { stream } of streams) open.add(stream)
    }
  }
  const left = new Map<string, string[]>()
  for (const threadId of open) {
    const info = await store.getThread(threadId)
    if (info === null || info.hidden) continue
    left.set(info.resourceId, [...(left.get(info.resourceId) ?? []), threadId])
  }
  return left
}

/**
 * Returns the messages of a thread by their time; messages of the same time stay in their order. A summary takes the
 * place of those it replaces.
 */
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
  const { om } = state.head
  const summary = om?.holds === 'summary' ? await summaryOf(store, state.head.lineage, om) : undefined
  const from = summary === undefined ? 0 : (om?.contentTo ?? om?.coversTo ?? 0)
  const own = all.filter(
    (message) => message.parentToolCallId === undefined && message.order > from && !isShownOnly(message),
  )
  const whole = await Promise.all(own.map((message) => inflateMessage(store, state.head.lineage, message)))
  // `sort` is stable. What the model sees keeps the order of the log.
  const shown = whole.sort((a, b) => a.at - b.at).map((message) => toChatMessage(message))
  if (summary === undefined) return shown
  const covered = all.findLast(({ order }) => order <= from)
  return [
    { id: `summary-${om?.blob}`, role: 'user', content: summary, createdAt: new Date(covered?.at ?? 0) },
    ...shown,
  ]
}

async function summaryOf(store: Store, lineage: Lineage, { blob: hash }: OmPointer): Promise<string | undefined> {
  const blob = hash === undefined ? null : await store.readBlob(hash, lineage)
  return blob === null ? undefined : new TextDecoder().decode(blob.bytes)
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
