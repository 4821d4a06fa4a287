import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { flakyStore, flakyStoreContract, storeContract, type StoreSubject } from '@evener/testing/contracts'
import type { Store } from '@evener/protocol'
import { MemoryStore } from './memory-store.ts'
import { SqliteStore } from './sqlite-store.ts'

async function inMemory(store: Store): Promise<StoreSubject> {
  await store.open()
  return { store, close: () => store.close() }
}

async function inFile(): Promise<StoreSubject> {
  const directory = await mkdtemp(join(tmpdir(), 'evener-store-'))
  const open = (): Promise<SqliteStore> => SqliteStore.open({ url: join(directory, 'data.db') })
  let store = await open()
  return {
    store,
    reopen: async () => {
      await store.close()
      store = await open()
      return store
    },
    close: async () => {
      await store.close()
      await rm(directory, { recursive: true })
    },
  }
}

storeContract({ name: 'MemoryStore', open: () => inMemory(new MemoryStore()) })
storeContract({ name: 'SqliteStore in memory', open: () => inMemory(new SqliteStore({ url: ':memory:' })) })
storeContract({ name: 'SqliteStore in a file', isDurable: true, open: inFile })

let seed = 0
storeContract({
  name: 'MemoryStore, slow and out of order',
  open: () => inMemory(flakyStore(new MemoryStore(), { seed: ++seed })),
})

storeContract({
  name: 'SqliteStore, slow and out of order',
  open: () => inMemory(flakyStore(new SqliteStore({ url: ':memory:' }), { seed: ++seed })),
})

flakyStoreContract({ name: 'MemoryStore', open: () => inMemory(new MemoryStore()) })
flakyStoreContract({ name: 'SqliteStore', open: () => inMemory(new SqliteStore({ url: ':memory:' })) })
