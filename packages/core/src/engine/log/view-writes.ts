import type { StoredMessage } from '@inspan/protocol'
import {
  reduce,
  REDUCER_VERSION,
  storedHead,
  storedMessage,
  type LogRecord,
  type Op,
  type ThreadState,
} from '@inspan/protocol/log'
import type { Append, WaitRow } from '@inspan/protocol/store'
import { waitRows } from './wait-rows.ts'

/** The result of folding records: the new state, the ops for replicas, and the view rows of their transaction. */
export interface Folded {
  readonly state: ThreadState
  readonly ops: readonly Op[]
  /** The state after each record. */
  readonly states: readonly ThreadState[]
  readonly writes: Pick<Append, 'messages' | 'waits' | 'head' | 'thread'>
}

/** Folds records and collects what has to be written with them. */
export function foldWithViews(before: ThreadState, records: readonly LogRecord[]): Folded {
  let state = before
  const ops: Op[] = []
  const states: ThreadState[] = []
  const messages = new Map<string, StoredMessage>()
  const waits: WaitRow[] = []
  let isHeadDue = false
  for (const record of records) {
    const reduced = reduce(state, record)
    waits.push(...waitRows(state, reduced.state, record))
    state = reduced.state
    ops.push(...reduced.ops)
    for (const message of reduced.written) messages.set(message.id, storedMessage(message))
    states.push(state)
    isHeadDue ||= HEAD_AFTER.has(record.body.type)
  }
  const last = records.at(-1)
  // Also without a run, so that opening the thread never folds more than this.
  isHeadDue ||= last !== undefined && Math.floor(before.head.seq / HEAD_EVERY) < Math.floor(last.seq / HEAD_EVERY)
  return {
    state,
    ops,
    states,
    writes: {
      ...(messages.size === 0 ? {} : { messages: [...messages.values()] }),
      ...(waits.length === 0 ? {} : { waits }),
      // Between runs the head is the whole state; in a run it would lack the open messages.
      ...(isHeadDue && state.head.run === null
        ? { head: { head: storedHead(state.head), reducerVersion: REDUCER_VERSION } }
        : {}),
      ...(last === undefined || !movesThread(before, records)
        ? {}
        : {
            thread: {
              updatedAt: last.at,
              ...(state.head.title === before.head.title ? {} : { title: state.head.title }),
            },
          }),
    },
  }
}

/** Whether the records move the thread in lists sorted by `updatedAt`. Those in between, 25 times a second, do not. */
function movesThread({ head }: ThreadState, records: readonly LogRecord[]): boolean {
  return records.some(({ at, body }) => {
    if (!ENDS.has(body.type)) return MOVES_THREAD.has(body.type)
    // The thread moved when the run began, and moving it writes as much as the end of a short answer itself.
    return head.run === null || at - head.run.startedAt >= SHORT_RUN_MS
  })
}

/** The order of threads that were used within a second does not matter. */
const SHORT_RUN_MS = 1000

const ENDS: ReadonlySet<string> = new Set(['message.ended', 'run.ended'])

/** A head is written when seqs pass a multiple of this. */
const HEAD_EVERY = 500

const MOVES_THREAD: ReadonlySet<string> = new Set([
  'message.added',
  'run.started',
  'wait.opened',
  'config.changed',
  'queue.added',
  'fork',
  'rewind',
  'erased',
])

const HEAD_AFTER: ReadonlySet<string> = new Set(['run.ended', 'fork', 'rewind', 'erased'])
