import { InspanError, type StoredMessage } from '@inspan/protocol'
import {
  emptyState,
  reduce,
  REDUCER_VERSION,
  restingState,
  reviveHead,
  rootLineage,
  storedHead,
  storedMessage,
  type LogRecord,
  type ThreadState,
} from '@inspan/protocol/log'
import type { Fence, Store, WaitRow } from '@inspan/protocol/store'
import { freezeDeep, frozenCopy } from '../../common/frozen.ts'
import { waitRows } from './wait-rows.ts'
import { allItems, allPages } from '../../common/all-items.ts'

/** How many view rows are written at a time during a rebuild. */
const REBUILD_CHUNK = 500
const PAGE = 500

/** Returns the state of a stream from its stored head and the records since. Takes nothing and writes nothing. */
export async function readStreamState(store: Store, stream: string): Promise<ThreadState> {
  const head = await store.readHead(stream, REDUCER_VERSION)
  let state: ThreadState = head === null ? emptyState(stream) : restingState(reviveHead(head))
  for await (const record of recordsAfter(store, stream, state.head.seq)) state = reduce(state, record).state
  return state
}

export interface LoadedState {
  readonly state: ThreadState
  /** The seq of the first batch of each part that was never sealed, by part. */
  readonly openBatches: ReadonlyMap<string, number>
}

/**
 * Loads the stored head and folds the records after it. Without a head of this reducer's version, the whole stream is
 * folded and its view rows are rebuilt.
 */
export async function loadState(store: Store, stream: string, fence: Fence): Promise<LoadedState> {
  const status = await store.getStream(stream)
  if (status === null) {
    throw new InspanError('not-found', `There is no thread ${stream}.`, { details: { stream } })
  }
  const head = await store.readHead(stream, REDUCER_VERSION)
  const isRebuilt = head === null
  let state: ThreadState = head === null ? emptyState(stream) : restingState(reviveHead(freezeDeep(head)))
  const openBatches = new Map<string, number>()
  const rows = new Map<string, StoredMessage>()
  const waits = new Map<string, WaitRow>()
  const erased = isRebuilt ? await erasedRanges(store, stream, status.headSeq) : []
  const writeRows = async (isLast: boolean): Promise<void> => {
    // A head says that the rows up to it are there, so it is written with the last of them.
    const isWhole = isLast && state.head.run === null
    await store.append({
      stream,
      fence,
      records: [],
      messages: [...rows.values()],
      waits: [...waits.values()],
      ...(isWhole ? { head: { head: storedHead(state.head), reducerVersion: REDUCER_VERSION } } : {}),
    })
    rows.clear()
    waits.clear()
  }
  for await (const stored of recordsAfter(store, stream, state.head.seq)) {
    const record = frozenCopy(stored)
    const before = state
    const reduced = reduce(before, record)
    state = reduced.state
    noteBatch(openBatches, record)
    if (!isRebuilt) continue
    for (const message of reduced.written) {
      if (!erased.some(({ from, to }) => message.order >= from && message.order <= to)) {
        rows.set(message.id, storedMessage(message))
      }
    }
    for (const row of waitRows(before, state, record)) waits.set(row.wait.id, row)
    if (rows.size + waits.size >= REBUILD_CHUNK) await writeRows(false)
  }
  if (isRebuilt && (rows.size + waits.size > 0 || (state.head.run === null && state.head.seq > 0)))
    await writeRows(true)
  // A stream without records (a fork before its first one) still has a head seq.
  if (state.head.seq < status.headSeq) state = { ...state, head: { ...state.head, seq: status.headSeq } }
  return { state: { ...state, head: frozenCopy(state.head) }, openBatches }
}

/** Returns the erased ranges: erased messages get no row in a rebuild either. */
async function erasedRanges(store: Store, stream: string, headSeq: number): Promise<{ from: number; to: number }[]> {
  const ranges: { from: number; to: number }[] = []
  let record = await store.latestRecord(rootLineage(stream), 'erased', headSeq)
  while (record?.body.type === 'erased') {
    ranges.push({ from: record.body.from, to: record.body.to })
    record = await store.latestRecord(rootLineage(stream), 'erased', record.seq - 1)
  }
  return ranges
}

export function recordsAfter(store: Store, stream: string, after: number): AsyncGenerator<LogRecord> {
  return allItems((from) => store.readRecords(stream, { after, limit: PAGE, ...from }))
}

export function recordPagesAfter(store: Store, stream: string, after: number): AsyncGenerator<readonly LogRecord[]> {
  return allPages((from) => store.readRecords(stream, { after, limit: PAGE, ...from }))
}

function noteBatch(open: Map<string, number>, record: LogRecord): void {
  const { body } = record
  if (body.type === 'batch') {
    const key = `${body.event.partId}/${body.event.messageId}`
    if (!open.has(key)) open.set(key, record.seq)
  } else if ('partId' in body && body.type !== 'call.started') {
    open.delete(`${body.partId}/${body.messageId}`)
  }
}
