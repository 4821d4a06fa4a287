import { emptyState, reduce, storedMessage, type LogRecord, type ThreadState } from '@inspan/protocol/log'
import type { Store } from '@inspan/protocol/store'

/** Everything a golden database gives, as JSON: what later releases have to find in it. */
export async function readGolden(store: Store): Promise<Record<string, unknown>> {
  const threads = (await store.listThreads({ resourceId: 'golden', includeHidden: true })).items
  const streams: Record<string, unknown> = {}
  for (const { id } of threads) {
    const records = await goldenRecordsOf(store, id)
    const { head, messages } = foldGolden(id, records)
    streams[id] = {
      records,
      head,
      open: [...messages].map(storedMessage),
      messages: (await store.listMessages(head.lineage, { order: 'oldest', limit: 1000 })).items,
      waits: (await store.listWaits({ stream: id, limit: 1000 })).items,
    }
  }
  const commands = (await store.listCommands({ target: 'main', state: 'accepted' })).items
  const owners = (await store.listOwners({})).items
  return JSON.parse(JSON.stringify({ threads, streams, commands, owners })) as Record<string, unknown>
}

export async function goldenRecordsOf(store: Store, stream: string): Promise<readonly LogRecord[]> {
  return (await store.readRecords(stream, { limit: 1000 })).items
}

export function foldGolden(stream: string, records: readonly LogRecord[]): ThreadState {
  return records.reduce((state, record) => reduce(state, record).state, emptyState(stream))
}
