import type { StoredMessage } from '@inspan/protocol'
import { lineageUpTo, storedMessage, type ThreadState } from '@inspan/protocol/log'
import type { Store } from '@inspan/protocol/store'

/** How many of the newest messages a feed holds: the largest window of a client. */
export const MAX_WINDOW = 200

export const DEFAULT_WINDOW = 50

/** Reads the newest messages of a thread up to the seq of the state, oldest first. */
export async function readWindow(store: Store, state: ThreadState): Promise<readonly StoredMessage[]> {
  const open = state.messages.toArray().map(storedMessage)
  const openIds = new Set(open.map(({ id }) => id))
  const { lineage, seq } = state.head
  const known = lineageUpTo(lineage, seq)
  // The lineage of an empty thread has no range that could be read.
  if ([...known].length === 0) return open
  const page = await store.listMessages(known, { order: 'newest', limit: MAX_WINDOW })
  // The open run's messages come from the state: a row may be newer than the seq, or missing until its message ends.
  const older = page.items.filter(({ id }) => !openIds.has(id)).toReversed()
  return [...older, ...open].sort((a, b) => a.order - b.order)
}
