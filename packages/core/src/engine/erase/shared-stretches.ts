import type { Lineage, LogRecord } from '@inspan/protocol/log'
import type { Store } from '@inspan/protocol/store'
import { allItems } from '../../common/all-items.ts'

/** The highest seq that any store has. */
const LAST_SEQ = 2 ** 32 - 1
const PAGE = 500

/** The part of another thread's stream that a fork shares. */
export interface SharedStretch {
  readonly stream: string
  readonly from: number
  readonly to: number
  /** The thread of the stream is deleted; the rest is kept only for its forks. */
  readonly isDeleted: boolean
}

/** Returns the stretches a thread was forked from, oldest first. Includes rewound ones, as it can return to them. */
export async function sharedStretches(store: Store, thread: string): Promise<SharedStretch[]> {
  const { items } = await store.readRecords(thread, { limit: 1 })
  const body = items[0]?.body
  const stretches: SharedStretch[] = []
  for (const { stream, from, to } of body?.type === 'fork' ? body.lineage : []) {
    if (to !== null) stretches.push({ stream, from, to, isDeleted: (await store.getStream(stream)) === null })
  }
  return stretches
}

/** Returns a lineage of the whole stream. Closed, because of a deleted thread only closed stretches can be read. */
export function wholeStream(stream: string): Lineage {
  return [{ stream, from: 1, to: LAST_SEQ }]
}

/** Like `recordsAfter`, but works for deleted threads too. */
export function recordsLeft(store: Store, stream: string, after: number): AsyncGenerator<LogRecord> {
  return allItems((from) => store.readLineage(wholeStream(stream), { after, limit: PAGE, ...from }))
}
