import { InspanError, type StoredMessage } from '@inspan/protocol'
import type { Head, Lineage, LogRecord, RecordType, ThreadState } from '@inspan/protocol/log'
import type { Store } from '@inspan/protocol/store'
import { allItems } from '../../common/all-items.ts'

/** Records at which a thread can be forked or rewound, if no message is open: a message end or a step start. */
const ENDS: ReadonlySet<RecordType> = new Set<RecordType>(['message.added', 'message.ended', 'step.started'])

/** Records after which no message is open. */
const RESETS: ReadonlySet<RecordType> = new Set<RecordType>(['run.started', 'run.ended', 'rewind', 'fork'])

const PAGE = 500

/** Throws if a seq is no boundary of the lineage, and names the nearest one. The thread's start is a boundary. */
export async function requireBoundary(store: Store, lineage: Lineage, at: number): Promise<void> {
  if (await isBoundary(store, lineage, at)) return
  const before = await boundaryAt(store, lineage, Math.max(0, at - 1))
  const after = await boundaryAfter(store, lineage, at)
  const nearest = after !== null && after - at < at - before ? after : before
  throw new InspanError('invalid-input', `At ${at} no message ends and no step begins.`, {
    hint: `A thread is forked or rewound at such a point only; the nearest is ${nearest}.`,
    details: { at, nearest, before, after },
  })
}

/** Returns the newest boundary at or before a seq. */
export async function boundaryAt(store: Store, lineage: Lineage, upTo: number): Promise<number> {
  for (let at = upTo; at > 0;) {
    const seq = await latestEnd(store, lineage, at)
    if (seq === 0 || (await isBoundary(store, lineage, seq))) return seq
    at = seq - 1
  }
  return 0
}

/**
 * Returns where a thread is forked: at the end of a message, else at its own end. A fork begins where something has
 * ended, so a run that goes on is not part of it.
 */
export async function forkPoint(store: Store, { head }: ThreadState, messageId: string | undefined): Promise<number> {
  const { lineage, run, seq } = head
  const end = run === null ? seq : run.startedSeq - 1
  if (messageId === undefined) return boundaryAt(store, lineage, end)
  const { order } = await requireMessage(store, head, messageId)
  const isWhole = await isBoundary(store, lineage, order)
  return isWhole ? order : ((await boundaryAfter(store, lineage, order)) ?? boundaryAt(store, lineage, end))
}

/** Returns a message of the conversation; throws if it has none of that id. */
export async function requireMessage(
  store: Store,
  { lineage, stream }: Pick<Head, 'lineage' | 'stream'>,
  messageId: string,
): Promise<StoredMessage> {
  const message = lineage.length === 0 ? null : await store.getMessage(lineage, messageId)
  if (message !== null) return message
  throw new InspanError('not-found', `Thread "${stream}" has no message "${messageId}".`, {
    details: { thread: stream, messageId },
  })
}

async function isBoundary(store: Store, lineage: Lineage, at: number): Promise<boolean> {
  if (at === 0) return true
  if (!Number.isInteger(at) || at < 0 || lineage.length === 0) return false
  const { items } = await store.readLineage(lineage, { after: at - 1, upTo: at, limit: 1 })
  const [record] = items
  if (record?.seq !== at || !ENDS.has(record.body.type)) return false
  const start = await openRun(store, lineage, at)
  if (start === null) return true
  const open = new Set<string>()
  for await (const each of recordsOf(store, lineage, start, at)) follow(open, each)
  return open.size === 0
}

async function boundaryAfter(store: Store, lineage: Lineage, at: number): Promise<number | null> {
  if (lineage.length === 0) return null
  const open = new Set<string>()
  const start = (await openRun(store, lineage, at)) ?? at
  for await (const record of recordsOf(store, lineage, start)) {
    follow(open, record)
    if (record.seq > at && ENDS.has(record.body.type) && open.size === 0) return record.seq
  }
  return null
}

/** Returns the start of the run that is open at a seq. Messages are only ever open in a run. */
async function openRun(store: Store, lineage: Lineage, at: number): Promise<number | null> {
  const started = await latest(store, lineage, 'run.started', at)
  if (started === 0) return null
  // From there on only: looking for the end of a run that has none would read the whole thread.
  for await (const { body } of recordsOf(store, lineage, started + 1, at)) if (RESETS.has(body.type)) return null
  return started
}

async function latestEnd(store: Store, lineage: Lineage, upTo: number): Promise<number> {
  const found = await Promise.all([...ENDS].map((type) => latest(store, lineage, type, upTo)))
  return Math.max(...found)
}

async function latest(store: Store, lineage: Lineage, type: RecordType, upTo: number): Promise<number> {
  return lineage.length === 0 ? 0 : ((await store.latestRecord(lineage, type, upTo))?.seq ?? 0)
}

function follow(open: Set<string>, { body }: LogRecord): void {
  if (RESETS.has(body.type)) open.clear()
  if (body.type === 'message.started') open.add(body.messageId)
  if (body.type === 'message.ended') open.delete(body.messageId)
}

function recordsOf(store: Store, lineage: Lineage, from: number, upTo?: number): AsyncGenerator<LogRecord> {
  const query = { after: from - 1, limit: PAGE, ...(upTo === undefined ? {} : { upTo }) }
  return allItems((page) => store.readLineage(lineage, { ...query, ...page }))
}
