import { setTimeout as delay } from 'node:timers/promises'
import { InspanError } from '@inspan/protocol'
import type { Append, Store } from '@inspan/protocol/store'

const RETRY_DELAYS_MS = [20, 200, 1000]

/** Error codes for which a retry cannot help: we may not write the data, or there is no place for it. */
const FINAL: ReadonlySet<string> = new Set([
  'fenced',
  'misuse',
  'conflict',
  'not-found',
  'invalid-input',
  'corrupt',
  'read-only',
  'disk-full',
  'quota-exceeded',
  'foreign-file',
  'newer-version',
  'closed',
])

/**
 * Appends exactly once, even if the store's answer got lost: after an error the stream itself says whether the
 * transaction was committed. Only if it was not, the append is tried again.
 */
export async function commitSafely(store: Store, append: Append): Promise<void> {
  const last = append.records.at(-1)?.seq
  for (let attempt = 0; ; attempt++) {
    try {
      await store.append(append)
      return
    } catch (error) {
      const pause = RETRY_DELAYS_MS[attempt]
      if (last !== undefined && (await isCommitted(store, append, last))) return
      if (pause === undefined || (InspanError.is(error) && FINAL.has(error.code))) throw error
      await delay(pause)
    }
  }
}

async function isCommitted(store: Store, append: Append, seq: number): Promise<boolean> {
  try {
    const status = await store.getStream(append.stream)
    // Only the owner hands out seqs, so under our own fence a head that has reached our seq is our write.
    return (
      status !== null &&
      status.owner === append.fence.owner &&
      status.epoch === append.fence.epoch &&
      status.headSeq >= seq
    )
  } catch {
    return false
  }
}
