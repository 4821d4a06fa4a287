import {
  emptyState,
  reduce,
  REDUCER_VERSION,
  restingState,
  reviveHead,
  type Lineage,
  type LogRecord,
  type Store,
} from '@evener/protocol'
import { recordsAfter } from '@evener/core/engine'

const PAGE = 500

/** All records a thread shows, oldest first, page by page: those of its parents up to the fork as well. */
export async function* readThread(store: Store, thread: string): AsyncGenerator<LogRecord> {
  const lineage = await lineageOf(store, thread)
  let after = 0
  for (;;) {
    const page = await store.readLineage(lineage, { after, limit: PAGE })
    yield* page.items
    const last = page.items.at(-1)
    if (page.next === null || last === undefined) return
    after = last.seq
  }
}

async function lineageOf(store: Store, thread: string): Promise<Lineage> {
  const head = await store.readHead(thread, REDUCER_VERSION)
  let state = head === null ? emptyState(thread) : restingState(reviveHead(head))
  for await (const record of recordsAfter(store, thread, state.head.seq)) state = reduce(state, record).state
  return state.head.lineage
}
