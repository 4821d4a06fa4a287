import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  flakyStore,
  flakyStoreContract,
  storeContract,
  type StoreOpening,
  type StoreSubject,
} from '@inspan/testing/contracts'
import type { Store } from '@inspan/protocol/store'
import { MemoryStore } from './memory-store.ts'
import { SqliteStore } from './sqlite-store.ts'

async function inMemory(store: Store): Promise<StoreSubject> {
  await store.open()
  return { store, close: () => store.close() }
}

async function inFile(first: StoreOpening = {}): Promise<StoreSubject> {
  const directory = await mkdtemp(join(tmpdir(), 'inspan-store-'))
  const open = (how: StoreOpening): Promise<SqliteStore> =>
    SqliteStore.open({ url: join(directory, 'data.db'), ...how })
  let store = await open(first)
  return {
    store,
    reopen: async (how = first) => {
      await store.close()
      store = await open(how)
      return store
    },
    close: async () => {
      await store.close()
      await rm(directory, { recursive: true })
    },
  }
}

storeContract({ name: 'MemoryStore', open: (how) => inMemory(new MemoryStore(how)) })
storeContract({
  name: 'SqliteStore in memory',
  open: (how) => inMemory(new SqliteStore({ url: ':memory:', ...how })),
})
storeContract({ name: 'SqliteStore in a file', isDurable: true, open: inFile })

let seed = 0
storeContract({
  name: 'MemoryStore, slow and out of order',
  open: (how) => inMemory(flakyStore(new MemoryStore(how), { seed: ++seed })),
})

storeContract({
  name: 'SqliteStore, slow and out of order',
  open: (how) => inMemory(flakyStore(new SqliteStore({ url: ':memory:', ...how }), { seed: ++seed })),
})

flakyStoreContract({ name: 'MemoryStore', open: () => inMemory(new MemoryStore()) })
flakyStoreContract({ name: 'SqliteStore', open: () => inMemory(new SqliteStore({ url: ':memory:' })) })
