import { estimateTokenCount } from 'tokenx'
import type { StoredMessage } from '@inspan/protocol'
import type { MemoryBasis, MemoryPlace, MemoryThread } from '@inspan/protocol/driver'
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
  /** Nothing comes back: what was left out or shortened before stays so. The task stays, if only its ends. */
  const pointerAfter = async (
    { coversTo, wholly = false }: MemoryPlace,
    generation: number,
  ): Promise<Omit<OmPointer, 'blob' | 'contentTo' | 'holds'>> => {
    const before = messages.pointer
    const to = Math.max(coversTo, before?.coversTo ?? 0)
    const raw = await messages.raw()
    const task = wholly ? undefined : [...(await messages.kept()), ...raw].findLast(isTask)
    const isKept = task !== undefined && task.order <= to
    const sent = new Set([...raw.filter(({ order }) => order > to), ...(isKept ? [task] : [])].map(({ id }) => id))
    const shortened = Object.fromEntries(Object.entries(before?.shortened ?? {}).filter(([id]) => sent.has(id)))
    if (isKept && charsOf(task) > TASK_CHARS)
      shortened[task.id] = Math.min(TASK_CHARS, shortened[task.id] ?? TASK_CHARS)
    return {
      generation,
      coversTo: to,
      ...(before?.omitted === undefined ? {} : { omitted: before.omitted }),
      ...(isKept ? { keeps: [task.id] } : {}),
      ...(Object.keys(shortened).length === 0 ? {} : { shortened }),
    }
  }
  return {
    threadId: log.stream,
    pointer: () => log.state.head.om,
    isFreshFork: () => {
      const { lastRun, lineage, run, stream } = log.state.head
      return lineage.at(0)?.stream !== stream && lastRun === null && (run?.step ?? null) === null
    },
    basis,
    content: () => messages.memory(),
    messages: async () => (await messages.raw()).filter(({ state }) => state !== 'open'),
    kept: () => messages.kept(),
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
      const omitted = (await messages.raw()).filter(({ order }) => order <= coversTo).length
      const pointer = await pointerAfter({ coversTo }, on.generation + 1)
      return commit([{ type: 'context.cut', ...pointer, omitted }], pointer.coversTo, on)
    },
    tokensOf,
    countTokens: estimateTokenCount,
    sizes: async (text, place) => {
      const next = await messages.sentWith(await pointerAfter(place, 0), text)
      return [tokensIn(await messages.sent()), tokensIn(next)]
    },
    compact: async (summary, place, [tokensBefore, tokensAfter], on) => {
      const { blob, ref } = blobOf(Buffer.from(summary), 'text/plain')
      const pointer = await pointerAfter(place, on.generation + 1)
      const tokens = { tokensBefore, tokensAfter }
      const replaced = (await messages.raw()).filter(({ order }) => order <= pointer.coversTo).length
      const data = { messages: replaced, ...tokens }
      return commit(
        [
          { type: 'compaction', summary: ref, ...pointer, ...tokens },
          // For people: where in the conversation it happened. A rewind to before it takes both away.
          {
            type: 'message.added',
            messageId: timeOrderedId(),
            role: 'system',
            parts: [{ id: '0', type: 'signal', kind: 'compaction', text: '', data }],
          },
        ],
        pointer.coversTo,
        on,
        blob,
      )
    },
    observe: async (content, coversTo, on) => {
      const { blob, ref } = memoryBlob(content)
      const om = { ...(await pointerAfter({ coversTo }, on.generation + 1)), blob: ref.blob }
      return commit([{ type: 'om.committed', om, replaces: on.generation }], om.coversTo, on, blob)
    },
  }
}

function tokensIn(messages: readonly StoredMessage[]): number {
  return messages.reduce((sum, message) => sum + tokensOf(message), 0)
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
