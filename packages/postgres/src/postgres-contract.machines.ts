import { after, before } from 'node:test'
import {
  flakyStore,
  flakyStoreContract,
  storeContract,
  type StoreOpening,
  type StoreSubject,
} from '@inspan/testing/contracts'
import type { Store } from '@inspan/protocol/store'
import { PostgresStore } from './postgres-store.ts'
import { startPostgres, type PostgresServer } from './server.fixture.ts'

let server: PostgresServer
before(async () => {
  server = await startPostgres()
})
after(() => server.stop())

async function inDatabase(first: StoreOpening = {}, wrap = (store: Store): Store => store): Promise<StoreSubject> {
  const url = await server.emptyDatabase()
  let store = await PostgresStore.open({ url, ...first })
  return {
    store: wrap(store),
    reopen: async (how = first) => {
      await store.close()
      store = await PostgresStore.open({ url, ...how })
      return store
    },
    close: async () => {
      await store.close()
      await server.releaseDatabase(url)
    },
  }
}

storeContract({ name: 'PostgresStore', isDurable: true, open: inDatabase })

let seed = 0
storeContract({
  name: 'PostgresStore, slow and out of order',
  open: (how) => inDatabase(how, (store) => flakyStore(store, { seed: ++seed })),
})

flakyStoreContract({ name: 'PostgresStore', open: () => inDatabase() })
