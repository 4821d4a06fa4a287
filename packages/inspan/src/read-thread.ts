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
/** Fewer characters of an id would hit by chance. */
const SHORTEST = 4

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

/**
 * Returns the id of the thread with this id, or whose id begins or ends with it. Ids begin with their time, so those of
 * one day begin alike; their ends differ.
 */
export async function findThread(store: Store, given: string): Promise<string> {
  if ((await store.getThread(given)) !== null) return given
  const found: string[] = []
  let cursor: string | null | undefined
  do {
    const page = await store.listThreads({ limit: PAGE, includeHidden: true, ...(cursor == null ? {} : { cursor }) })
    found.push(...page.items.map(({ id }) => id).filter((id) => id.startsWith(given) || id.endsWith(given)))
    cursor = page.next
  } while (cursor !== null && found.length < 2 && given.length >= SHORTEST)
  const [only, second] = given.length < SHORTEST ? [] : found
  if (only !== undefined && second === undefined) return only
  const hint = '"inspan threads" lists what there is.'
  if (second === undefined) throw new InspanError('not-found', `There is no thread "${given}".`, { hint })
  throw new InspanError(
    'invalid-input',
    `Several threads begin or end with "${given}", such as ${only} and ${second}.`,
    {
      hint: 'Give more of the id.',
    },
  )
}

/** Returns the agent that had the floor last; `undefined` before the first turn. */
export async function lastAgentOf(store: Store, thread: string): Promise<string | undefined> {
  const { lineage, seq } = await headOf(store, thread)
  const turn = await store.latestRecord(lineage, 'turn.started', seq)
  return turn?.body.type === 'turn.started' ? turn.body.agentId : undefined
}

export async function headOf(store: Store, thread: string): Promise<Head> {
  const head = await store.readHead(thread, REDUCER_VERSION)
  let state = head === null ? emptyState(thread) : restingState(reviveHead(head))
  for await (const record of recordsAfter(store, thread, state.head.seq)) state = reduce(state, record).state
  return state.head
}
