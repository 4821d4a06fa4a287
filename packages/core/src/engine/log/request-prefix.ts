import type { StepRequest, StoredMessage } from '@inspan/protocol'
import type { Lineage } from '@inspan/protocol/log'
import type { Store } from '@inspan/protocol/store'
import { inflateMessage, inflateRequest } from './blobs.ts'

/** The request of a step: system prompt and tools as they were sent, and the conversation before the step. */
export interface RequestPrefix extends StepRequest {
  readonly messages: readonly StoredMessage[]
}

/**
 * Returns the request of the newest step up to `at`, from the log alone: whatever instructions and tools are computed
 * today, a fork at that step sends what its parent sent.
 */
export async function requestPrefix(store: Store, lineage: Lineage, at: number): Promise<RequestPrefix | null> {
  const record = await store.latestRecord(lineage, 'step.started', at)
  if (record?.body.type !== 'step.started' || record.body.request === undefined) return null
  const messages: StoredMessage[] = []
  let cursor: string | null = null
  do {
    const page = await store.listMessages(lineage, { order: 'oldest', ...(cursor === null ? {} : { cursor }) })
    for (const message of page.items) {
      if (message.order < record.seq) messages.push(await inflateMessage(store, message))
    }
    cursor = (page.items.at(-1)?.order ?? 0) < record.seq ? page.next : null
  } while (cursor !== null)
  return { ...(await inflateRequest(store, record.body.request)), messages }
}
