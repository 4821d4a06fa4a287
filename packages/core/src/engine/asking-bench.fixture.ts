import { nativeDriver } from '@inspan/agent'
import type { RunnableTool } from '@inspan/protocol/driver'
import type { Store } from '@inspan/protocol/store'
import { MemoryStore, SqliteStore } from '@inspan/stores'
import { scriptedModel } from '@inspan/testing'
import { RuntimeBench } from './runtime-bench.fixture.ts'

/** Both stores of this package, by the place where they keep threads. */
export const STORES: readonly (readonly [place: string, make: () => Store])[] = [
  ['memory', () => new MemoryStore()],
  ['SQLite', () => new SqliteStore({ url: ':memory:' })],
]

/** A thread of an agent that has to be asked before it looks. */
export function askingBench(answers: Parameters<typeof scriptedModel>[0], store: Store): Promise<RuntimeBench> {
  const look: RunnableTool = {
    name: 'look',
    inputSchema: { type: 'object' },
    execute: async () => ({ result: 'seen' }),
  }
  const driver = nativeDriver({ id: 'native', model: scriptedModel(answers) })
  return RuntimeBench.open({ native: { driver, tools: [look] } }, { store })
}
