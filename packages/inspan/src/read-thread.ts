import { InspanError } from '@inspan/protocol'
import {
  emptyState,
  reduce,
  REDUCER_VERSION,
  restingState,
  reviveHead,
  type Head,
  type LogRecord,
} from '@inspan/protocol/log'
import type { Store } from '@inspan/protocol/store'
import { recordsAfter } from '@inspan/core/engine'

const PAGE = 500

/** Yields all records of a thread's lineage, oldest first, including those of its parents up to the fork. */
export async function* readThread(store: Store, thread: string): AsyncGenerator<LogRecord> {
  const { lineage } = await headOf(store, thread)
  let after = 0
  for (;;) {
    const page = await store.readLineage(lineage, { after, limit: PAGE })
    yield* page.items
    const last = page.items.at(-1)
    if (page.next === null || last === undefined) return
    after = last.seq
  }
}

export async function requireThread(store: Store, thread: string): Promise<void> {
  if ((await store.getThread(thread)) !== null) return
  throw new InspanError('not-found', `There is no thread "${thread}".`, {
    hint: '"inspan threads" lists what there is.',
  })
}

/** Returns the agent that had the floor last; `undefined` before the first turn. */
export async function lastAgentOf(store: Store, thread: string): Promise<string | undefined> {
  const { lineage, seq } = await headOf(store, thread)
  const turn = await store.latestRecord(lineage, 'turn.started', seq)
  return turn?.body.type === 'turn.started' ? turn.body.agentId : undefined
}

async function headOf(store: Store, thread: string): Promise<Head> {
  const head = await store.readHead(thread, REDUCER_VERSION)
  let state = head === null ? emptyState(thread) : restingState(reviveHead(head))
  for await (const record of recordsAfter(store, thread, state.head.seq)) state = reduce(state, record).state
  return state.head
}
