import { isShownOnly } from '@inspan/protocol'
import { toChatMessage, type ChatMessage } from '@inspan/protocol/chat'
import { storedMessage, type Lineage, type OmPointer, type ThreadState } from '@inspan/protocol/log'
import { MAX_PAGE, type Store, type ThreadInfo } from '@inspan/protocol/store'
import { allItems, inflateMessage, isDead } from '@inspan/core/engine'

/**
 * Returns the threads in which something waits or in which a process died, by their resource. Threads that living
 * processes are at are theirs.
 */
export async function leftThreads(store: Store): Promise<Map<string, string[]>> {
  const open = new Set<string>()
  const waits = allItems((cursor) => store.listWaits({ state: 'pending', limit: MAX_PAGE, ...cursor }))
  for await (const { stream } of waits) open.add(stream)
  for await (const owner of allItems((cursor) => store.listOwners({ limit: MAX_PAGE, ...cursor }))) {
    if (!isDead(owner, Date.now())) continue
    const streams = allItems((cursor) => store.listOwned({ owner: owner.id, limit: MAX_PAGE, ...cursor }))
    for await (const { stream } of streams) open.add(stream)
  }
  const left = new Map<string, string[]>()
  for (const threadId of open) {
    const info = await store.getThread(threadId)
    if (info === null || info.hidden) continue
    left.set(info.resourceId, [...(left.get(info.resourceId) ?? []), threadId])
  }
  return left
}

export function threadsOf(store: Store, resourceId: string): Promise<ThreadInfo[]> {
  return Array.fromAsync(allItems((cursor) => store.listThreads({ resourceId, limit: MAX_PAGE, ...cursor })))
}

/**
 * Returns the messages of a thread by their time; messages of the same time stay in their order. A summary takes the
 * place of those it replaces.
 */
export async function readChatMessages(store: Store, state: ThreadState): Promise<ChatMessage[]> {
  const { lineage } = state.head
  const messages = allItems((cursor) => store.listMessages(lineage, { order: 'oldest', limit: MAX_PAGE, ...cursor }))
  const stored = lineage.length > 0 ? await Array.fromAsync(messages) : []
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
