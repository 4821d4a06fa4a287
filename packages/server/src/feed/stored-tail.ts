import { asJson, rootLineage, storedHead, storedMessage, type Op, type ThreadView } from '@inspan/protocol/log'
import type { Store } from '@inspan/protocol/store'
import { MAX_WINDOW } from './window.ts'

/** What the store knows of a cursor that the feed no longer remembers. */
export interface StoredTail {
  /** The client has everything up to this seq. */
  readonly after: number
  /** Messages that began up to here are the same now as at `after`. */
  readonly unchangedTo: number
  /** The newest seq that was looked at. */
  readonly readTo: number
}

/** After these, messages are gone or come back: a client cannot get there by setting what changed. */
const MOVES = ['fork', 'rewind', 'erased'] as const

/**
 * Reads how much of a thread may have changed since a seq. Messages change only during the run they belong to, so those
 * before the last run that had ended by then are as they were.
 */
export async function readTail(
  store: Store,
  thread: string,
  { after, readTo }: Pick<StoredTail, 'after' | 'readTo'>,
  hasRun: boolean,
): Promise<StoredTail | undefined> {
  const own = rootLineage(thread)
  for (const type of MOVES) if (((await store.latestRecord(own, type, readTo))?.seq ?? 0) > after) return undefined
  // Without any, the search would go through the whole thread.
  const ended = hasRun ? await store.latestRecord(own, 'run.ended', after) : null
  return { after, unchangedTo: ended?.seq ?? 0, readTo }
}

/** Returns ops that set all that may have changed; `undefined` when a snapshot of the window would be smaller. */
export function tailOps({ head, messages, seq }: ThreadView, tail: StoredTail, window: number): Op[] | undefined {
  const first = messages.at(0)
  const holdsAll = messages.length < MAX_WINDOW || (first !== undefined && first.order <= tail.unchangedTo)
  const changed = messages.toArray().filter(({ order }) => order > tail.unchangedTo)
  if (!holdsAll || changed.length > window) return undefined
  return [
    { type: 'set', path: ['head'], value: asJson({ ...storedHead(head), seq }) },
    ...changed.map((message): Op => ({
      type: 'set',
      path: ['messages', message.id],
      value: asJson(storedMessage(message)),
    })),
  ]
}
