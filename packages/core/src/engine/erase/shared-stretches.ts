import type { Lineage, LogRecord, Store } from '@evener/protocol'

/** The highest seq that any store has. */
const LAST_SEQ = 2 ** 32 - 1
const PAGE = 500

/** What a fork shares with a thread it came from. */
export interface SharedStretch {
  readonly stream: string
  readonly from: number
  readonly to: number
  /** Its thread is gone; what is left of it is there for its forks only. */
  readonly isDeleted: boolean
}

/** All that a thread was forked from, oldest first; also what it has rewound since, because it can go back to it. */
export async function sharedStretches(store: Store, thread: string): Promise<SharedStretch[]> {
  const { items } = await store.readRecords(thread, { limit: 1 })
  const body = items[0]?.body
  const stretches: SharedStretch[] = []
  for (const { stream, from, to } of body?.type === 'fork' ? body.lineage : []) {
    if (to !== null) stretches.push({ stream, from, to, isDeleted: (await store.getStream(stream)) === null })
  }
  return stretches
}

/** All there is of a stream, also of one whose thread was deleted: only closed parts of it can be read. */
export function wholeStream(stream: string): Lineage {
  return [{ stream, from: 1, to: LAST_SEQ }]
}

/** Like `recordsAfter`, and also of a stream whose thread was deleted. */
export async function* recordsLeft(store: Store, stream: string, after: number): AsyncGenerator<LogRecord> {
  for (let position = after; ;) {
    const page = await store.readLineage(wholeStream(stream), { after: position, limit: PAGE })
    yield* page.items
    const last = page.items.at(-1)
    if (last === undefined || page.next === null) return
    position = last.seq
  }
}
