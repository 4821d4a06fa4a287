import { isShownOnly, type StepRequest, type StoredMessage } from '@inspan/protocol'
import type { Lineage, ThreadState } from '@inspan/protocol/log'
import type { Store } from '@inspan/protocol/store'
import { inflateMessage, inflateRequest } from '../log/blobs.ts'
import { stateAt } from '../threads/threads.ts'
import { readMemory } from './memory-content.ts'
import { shortenMessage } from './shorten-message.ts'
import { standingMessages } from './standing-messages.ts'
import { allItems } from '../../common/all-items.ts'

/** The request of a step: system prompt, tools and conversation as they were sent. */
export interface RequestPrefix extends StepRequest {
  /** What the model saw of the conversation before the step, memory and cuts included. */
  readonly messages: readonly StoredMessage[]
}

/**
 * Returns the request of the newest step up to `at`, from the log alone: whatever instructions and tools are computed
 * today, a fork at that step sends what its parent sent.
 */
export async function requestPrefix(store: Store, lineage: Lineage, at: number): Promise<RequestPrefix | null> {
  const record = await store.latestRecord(lineage, 'step.started', at)
  const request = await recordedRequest(store, lineage, at)
  if (record === null || request === null) return null
  const { om } = await stateAt(store, lineage, record.seq)
  const { coversTo = 0, keeps = [], shortened = {} } = om ?? {}
  const standing = om === null ? [] : standingMessages(om, (await readMemory(store, lineage, om))?.text)
  const kept: StoredMessage[] = []
  for (const id of keeps) {
    const message = await store.getMessage(lineage, id)
    if (message !== null) kept.push(await inflateMessage(store, lineage, message))
  }
  const raw = await messagesBetween(store, lineage, coversTo, record.seq)
  const messages = [...standing, ...kept, ...raw].map((message) => {
    const chars = shortened[message.id]
    return chars === undefined ? message : shortenMessage(message, chars)
  })
  return { ...request, messages }
}

/** Returns what the newest step up to `at` sent apart from the conversation. */
export async function recordedRequest(store: Store, lineage: Lineage, at: number): Promise<StepRequest | null> {
  const record = await store.latestRecord(lineage, 'step.started', at)
  if (record?.body.type !== 'step.started' || record.body.request === undefined) return null
  return inflateRequest(store, lineage, record.body.request)
}

/** Returns the names of the tools in the last request before the fork; none when the thread is no fork. */
export async function toolsSentBeforeFork(store: Store, { head }: ThreadState): Promise<ReadonlySet<unknown>> {
  const { lineage, stream } = head
  const own = [...lineage].find((range) => range.stream === stream)
  if (own === undefined || own === lineage.at(0)) return new Set()
  const tools = (await recordedRequest(store, lineage, own.from - 1))?.tools
  return new Set(Array.isArray(tools) ? tools.map((tool: { readonly name?: unknown } | null) => tool?.name) : [])
}

/** Reads backwards, because memory replaces all but the newest messages of a long thread. */
async function messagesBetween(
  store: Store,
  lineage: Lineage,
  after: number,
  before: number,
): Promise<StoredMessage[]> {
  const found: StoredMessage[] = []
  for await (const message of allItems((from) => store.listMessages(lineage, { order: 'newest', ...from }))) {
    if (message.order <= after) break
    if (message.order < before && !isShownOnly(message)) found.push(await inflateMessage(store, lineage, message))
  }
  return found.reverse()
}
