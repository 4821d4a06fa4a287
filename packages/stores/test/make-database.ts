import { SqliteStore } from '../src/sqlite-store.ts'
import { messageOf, saidOf, startThread } from './threads.ts'

/** A file with one long thread. */
export async function makeDatabase(path: string): Promise<void> {
  const store = await SqliteStore.open({ url: path })
  const records = Array.from({ length: 200 }, (_, index) => saidOf('t', index + 1, `text ${index} `.repeat(50)))
  const fence = await startThread(store, 't', records)
  const messages = records.map((record) => messageOf('t', record.seq, 'text '.repeat(50)))
  await store.append({ stream: 't', fence, records: [], messages })
  await store.close()
}
