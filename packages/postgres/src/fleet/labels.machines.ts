import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createThread } from '@inspan/core/engine'
import { InspanError } from '@inspan/protocol'
import { PostgresStore } from '../postgres-store.ts'
import { startPostgres, type PostgresServer } from '../server.fixture.ts'
import { Fleet, until } from './fleet.fixture.ts'

let server: PostgresServer
before(async () => {
  server = await startPostgres()
})
after(() => server.stop())

test('a thread with labels runs only on machines that have them, also when those die', async () => {
  await using fleet = await Fleet.start(await server.emptyDatabase(), 2)
  const [first, second] = [...fleet.machines.keys()]
  const labelled = await fleet.add({ LABELS: 'codex,checkout:app' })
  const pinned = await fleet.submit('note 60', { machineLabels: ['checkout:app'] })
  await until(async () => (await fleet.effects()).length > 2)
  assert.equal(await fleet.ownerOf(pinned), labelled.pid)
  await fleet.kill(labelled.pid ?? 0)
  // The others see it die and are offered the thread. Work of theirs shows that they look at the database meanwhile.
  for (let round = 0; round < 3; round++) {
    const free = await fleet.submit('note 30')
    await until(() => fleet.hasEnded(free))
  }
  const { owner } = (await fleet.store.getStream(pinned)) ?? {}
  const holder = typeof owner === 'string' ? await fleet.store.getOwner(owner) : null
  assert.ok(holder?.pid !== first && holder?.pid !== second, 'a machine without the label took the thread')
  assert.equal(await fleet.hasEnded(pinned), false)
  await fleet.add({ LABELS: 'checkout:app' })
  await until(() => fleet.hasEnded(pinned))
  const effects = await fleet.effects()
  assert.equal(new Set(effects).size, effects.length)
})

test('a machine without a label is refused as if the thread were held, and what comes from the thread is pinned too', async () => {
  const url = await server.emptyDatabase()
  const plain = await PostgresStore.open({ url })
  const labelled = await PostgresStore.open({ url, labels: ['codex'], pinTo: ['codex'] })
  try {
    await createThread(labelled, { id: 'pinned', resourceId: 'r' })
    await createThread(plain, { id: 'child', resourceId: 'r', parent: 'pinned', root: 'pinned', parentCall: 'c' })
    for (const id of ['pinned', 'child']) {
      await assert.rejects(
        plain.claim(id, 'me'),
        (error) => InspanError.is(error, 'held') && /"codex"/.test(error.message),
      )
      assert.equal((await labelled.claim(id, 'us')).status, 'owned')
      // Not even from a dead owner.
      await assert.rejects(plain.takeOver(id, 'me', 1), (error) => InspanError.is(error, 'held'))
    }
    const odd = createThread(plain, { id: 'odd', resourceId: 'r', metadata: { machineLabels: 'codex' } })
    await assert.rejects(odd, (error) => InspanError.is(error, 'invalid-input'))
  } finally {
    await plain.close()
    await labelled.close()
  }
})
