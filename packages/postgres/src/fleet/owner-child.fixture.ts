import { PostgresStore } from '../postgres-store.ts'

// Owns the thread `t` until it is ended, and reports when it learns that others took it for dead.
const store = await PostgresStore.open({ url: process.argv[2] ?? '' })
const owner = { id: 'child', host: 'h', pid: 2, startTime: '1', bootId: 'b', until: Date.now() + 30_000 }
await store.putOwner(owner)
await store.claim('t', 'child')
await store.join({
  owner: 'child',
  onWake: () => undefined,
  onLost: () => process.send?.('lost'),
})
await new Promise((resolve) => setTimeout(resolve, 700))
process.send?.('ready')
setInterval(() => undefined, 1000)
