import type { JsonObject } from '@inspan/protocol'
import type { Store } from '@inspan/protocol/store'

/** An agent that has met a limit does not do much more, so the note is among the last records. */
const LAST_RECORDS = 1000

/** Returns the newest report of each limit that the agents of a thread have noted. */
export async function agentLimits(store: Store, thread: string, seq: number): Promise<readonly JsonObject[]> {
  const { items } = await store.readRecords(thread, { after: Math.max(0, seq - LAST_RECORDS), limit: LAST_RECORDS })
  const found = new Map<string, JsonObject>()
  for (const { body } of items) {
    if (body.type !== 'note' || body.kind !== 'limit' || body.data === undefined) continue
    found.set(JSON.stringify([body.data['agentId'], body.data['name']]), body.data)
  }
  return [...found.values()]
}
