import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { startPostgres, type PostgresServer } from '../server.fixture.ts'
import { Fleet, until, uuid7 } from './fleet.fixture.ts'

let server: PostgresServer
before(async () => {
  server = await startPostgres()
})
after(() => server.stop())

/** Enough to see the common case here. `INSPAN_KILLS=200 npm run test:soak` takes its time. */
const KILLS = Number(process.env['INSPAN_KILLS'] ?? 6)

suite('machines that share a database', () => {
  test('any of them carries out a command that another process left in the database, once', async () => {
    await using fleet = await Fleet.start(await server.emptyDatabase(), 2)
    const threads = await Promise.all(Array.from({ length: 10 }, () => fleet.submit('note 2')))
    for (const thread of threads) await until(() => fleet.hasEnded(thread))
    const effects = await fleet.effects()
    assert.equal(effects.length, 20)
    assert.equal(new Set(effects).size, 20)
  })

  test(`a run goes on elsewhere when its process is killed (${KILLS} times), and no effect happens twice`, async (t) => {
    await using fleet = await Fleet.start(await server.emptyDatabase(), 3)
    const times: number[] = []
    for (let round = 0; round < KILLS; round++) {
      const before = (await fleet.effects()).length
      const thread = await fleet.submit('note 100')
      await until(async () => (await fleet.effects()).length > before + 2)
      const victim = await fleet.ownerOf(thread)
      assert.ok(victim !== undefined)
      const killedAt = performance.now()
      await fleet.kill(victim)
      await until(async () => {
        const owner = await fleet.ownerOf(thread)
        return owner !== undefined && owner !== victim
      }, 5)
      times.push(performance.now() - killedAt)
      await fleet.add()
      await until(() => fleet.hasEnded(thread))
    }
    const effects = await fleet.effects()
    assert.equal(new Set(effects).size, effects.length)
    times.sort((a, b) => a - b)
    const at = (share: number): string => Math.round(times[Math.ceil(times.length * share) - 1] ?? 0).toString()
    t.diagnostic(`takeover in ms: median ${at(0.5)}, p99 ${at(0.99)}, longest ${at(1)}`)
  })

  test('a stopped process loses its run, and writes nothing when it goes on', async () => {
    await using fleet = await Fleet.start(await server.emptyDatabase(), 2)
    const thread = await fleet.submit('note 150')
    await until(async () => (await fleet.effects()).length > 2)
    const victim = await fleet.ownerOf(thread)
    assert.ok(victim !== undefined)
    const stopped = fleet.machines.get(victim)
    stopped?.kill('SIGSTOP')
    await until(async () => {
      const owner = await fleet.ownerOf(thread)
      return owner !== undefined && owner !== victim
    })
    const epoch = (await fleet.store.getStream(thread))?.epoch
    stopped?.kill('SIGCONT')
    await until(() => fleet.hasEnded(thread))
    // Nobody else has owned the thread meanwhile, so everything since was written by the one that took it.
    assert.equal((await fleet.store.getStream(thread))?.epoch, epoch)
    const effects = await fleet.effects()
    assert.equal(new Set(effects).size, effects.length)
    // The revived process is of use again.
    await fleet.kill([...fleet.machines.keys()].find((pid) => pid !== victim) ?? 0)
    const next = await fleet.submit('note 1')
    await until(() => fleet.hasEnded(next))
  })

  test('a process that is asked to end leaves its run at a step; another goes on, and nothing is in doubt', async () => {
    await using fleet = await Fleet.start(await server.emptyDatabase(), 2)
    const thread = await fleet.submit('note 50')
    await until(async () => (await fleet.effects()).length > 2)
    const owner = await fleet.ownerOf(thread)
    assert.ok(owner !== undefined)
    await fleet.kill(owner, 'SIGTERM')
    await until(() => fleet.hasEnded(thread))
    const effects = await fleet.effects()
    assert.equal(effects.length, 50)
    assert.equal(new Set(effects).size, 50)
  })

  test('approvals that wait without a process are answered through any process, each once', async () => {
    await using fleet = await Fleet.start(await server.emptyDatabase(), 2)
    const threads = await Promise.all(Array.from({ length: 20 }, () => fleet.submit('careful 1')))
    const waits = async () => (await fleet.store.listWaits({ state: 'pending', limit: 100 })).items
    await until(async () => (await waits()).length === threads.length)
    for (const pid of fleet.machines.keys()) await fleet.kill(pid)
    await Promise.all([fleet.add(), fleet.add()])
    for (const { stream, wait } of await waits()) {
      const id = uuid7()
      // Every answer is sent three times, as a client would that heard nothing.
      for (let sent = 0; sent < 3; sent++) await fleet.answer(stream, wait.id, id)
    }
    for (const thread of threads) await until(() => fleet.hasEnded(thread))
    const effects = await fleet.effects()
    assert.equal(effects.length, threads.length)
    assert.equal(new Set(effects).size, threads.length)
  })

  test('the number of connections does not depend on the number of threads', async () => {
    await using fleet = await Fleet.start(await server.emptyDatabase(), 2)
    const few = await Promise.all(Array.from({ length: 5 }, () => fleet.submit('careful 1')))
    await until(async () => (await fleet.store.listWaits({ state: 'pending', limit: 100 })).items.length === few.length)
    await Promise.all(Array.from({ length: 60 }, () => fleet.submit('careful 1')))
    await until(async () => (await fleet.store.listWaits({ state: 'pending', limit: 100 })).items.length === 65)
    // Per process: a pool of ten and one line; the test has a pool as well.
    assert.ok((await fleet.connections()) <= 3 * 10 + 2 + 1)
  })
})
