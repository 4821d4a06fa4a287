import { estimateTokenCount } from 'tokenx'
import type { StoredMessage } from '@inspan/protocol'
import type { MemoryBasis, MemoryThread } from '@inspan/protocol/driver'
import { lineageHolds, type Lineage, type OmPointer, type RecordBody } from '@inspan/protocol/log'
import type { Store } from '@inspan/protocol/store'
import { blobOf, inflateMessage, type UnplacedBlob } from '../log/blobs.ts'
import type { ThreadLog } from '../log/thread-log.ts'
import { Mailbox } from '../../common/mailbox.ts'
import { timeOrderedId } from '../../common/time-ordered-id.ts'
import type { ContextMessages } from './context-messages.ts'
import { memoryBlob } from './memory-content.ts'
import { MessageIndex } from './message-index.ts'
import { charsOf, tokensOf } from './message-size.ts'
import { isTask } from './plan-cut.ts'
import { allItems } from '../../common/all-items.ts'

/** A task that stays although it was observed is shortened to this. */
const TASK_CHARS = 4000

/** The task that is being worked on stays in its own words, or at least their beginning and end. */
function keeping(task: StoredMessage | undefined, coversTo: number): Pick<OmPointer, 'keeps' | 'shortened'> {
  if (task === undefined || task.order > coversTo) return {}
  return { keeps: [task.id], ...(charsOf(task) > TASK_CHARS ? { shortened: { [task.id]: TASK_CHARS } } : {}) }
}

/** Returns what the memory of a thread sees, and how it acts on it. */
export function memoryThread(store: Store, log: ThreadLog, messages: ContextMessages): MemoryThread {
  const index = new MessageIndex(store, log)
  /** Counts what may have changed messages that somebody has read. */
  let changes = 0
  log.onEntry((entry) => {
    if (entry.kind === 'record' && /^(rewind|erased|fork)$/.test(entry.record.body.type)) changes++
  })
  const basis = (): MemoryBasis => ({ generation: log.state.head.om?.generation ?? 0, changes })
  // One at a time: a commit is seen by the next one only when it is written.
  const mailbox = new Mailbox()
  const commit = (
    bodies: readonly RecordBody[],
    coversTo: number,
    on: MemoryBasis,
    blob?: UnplacedBlob,
  ): Promise<boolean> =>
    mailbox.post(async () => {
      const now = basis()
      const isSame = now.generation === on.generation && now.changes === on.changes
      if (!isSame || !lineageHolds(log.state.head.lineage, coversTo)) return false
      await log.commit(bodies, {}, blob === undefined ? {} : { blobs: [blob] })
      return true
    })
  return {
    threadId: log.stream,
    pointer: () => log.state.head.om,
    basis,
    content: () => messages.memory(),
    messages: async () => (await messages.raw()).filter(({ state }) => state !== 'open'),
    search: async (query, options) => {
      const found: StoredMessage[] = []
      for (const { id } of await index.search(query, options)) {
        const { lineage } = log.state.head
        const message = await store.getMessage(lineage, id)
        if (message !== null) found.push(await inflateMessage(store, lineage, message))
      }
      return found
    },
    read: (from, limit) => messagesFrom(store, log.state.head.lineage, from, limit),
    cut: async (coversTo, on) => {
      const raw = await messages.raw()
      const omitted = raw.filter(({ order }) => order <= coversTo).length
      const task = [...(await messages.kept()), ...raw].findLast(isTask)
      const generation = on.generation + 1
      return commit([{ type: 'context.cut', coversTo, omitted, generation, ...keeping(task, coversTo) }], coversTo, on)
    },
    tokensOf,
    countTokens: estimateTokenCount,
    compact: async (summary, coversTo, [tokensBefore, tokensAfter], on) => {
      const { blob, ref } = blobOf(Buffer.from(summary), 'text/plain')
      const generation = on.generation + 1
      const tokens = { tokensBefore, tokensAfter }
      const replaced = (await messages.raw()).filter(({ order }) => order <= coversTo).length
      const data = { messages: replaced, ...tokens }
      return commit(
        [
          { type: 'compaction', summary: ref, coversTo, generation, ...tokens },
          // For people: where in the conversation it happened. A rewind to before it takes both away.
          {
            type: 'message.added',
            messageId: timeOrderedId(),
            role: 'system',
            parts: [{ id: '0', type: 'signal', kind: 'compaction', text: '', data }],
          },
        ],
        coversTo,
        on,
        blob,
      )
    },
    observe: async (content, coversTo, on) => {
      const { blob, ref } = memoryBlob(content)
      const kept = await messages.kept()
      const task = [...kept, ...(await messages.raw())].findLast(isTask)
      const om = { generation: on.generation + 1, coversTo, blob: ref.blob, ...keeping(task, coversTo) }
      return commit([{ type: 'om.committed', om, replaces: on.generation }], coversTo, on, blob)
    },
  }
}

/** Pages from the end the message is nearer to would be faster; agents mostly read what is old. */
async function messagesFrom(store: Store, lineage: Lineage, from: number, limit: number): Promise<StoredMessage[]> {
  const found: StoredMessage[] = []
  const query = { order: 'oldest', limit: 500 } as const
  for await (const message of allItems((page) => store.listMessages(lineage, { ...query, ...page }))) {
    if (message.order < from || message.state === 'open') continue
    found.push(await inflateMessage(store, lineage, message))
    if (found.length === limit) break
  }
  return found
}
