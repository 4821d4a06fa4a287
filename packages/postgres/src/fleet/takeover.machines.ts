import assert from 'node:assert/strict'
import { after, before, suite, test, type TestContext } from 'node:test'
import { startProxy, type Proxy } from '../proxy.fixture.ts'
import { startPostgres, type PostgresServer } from '../server.fixture.ts'
import { Fleet, noneTwice, percentile, until } from './fleet.fixture.ts'

let server: PostgresServer
before(async () => {
  server = await startPostgres()
})
after(() => server.stop())

/** How often each fault happens: enough to see the common case here. `npm run test:soak` takes its time. */
const KILLS = Number(process.env['INSPAN_KILLS'] ?? 3)
const STOPS = Number(process.env['INSPAN_STOPS'] ?? 1)
/** What a soak holds the machine to. A short run on a busy machine only reports it. */
const IS_SOAK = process.env['INSPAN_KILLS'] !== undefined

suite('machines that share a database', () => {
  test(`a run goes on elsewhere when its process is killed (${KILLS} times), and no effect happens twice`, async (t) => {
    await using fleet = await Fleet.start(await server.emptyDatabase(), 3)
    const times: number[] = []
    for (let round = 0; round < KILLS; round++) {
      const { thread, owner: victim } = await fleet.startRun(30)
      const killedAt = performance.now()
      await fleet.kill(victim)
      await fleet.isTakenFrom(thread, victim)
      times.push(performance.now() - killedAt)
      await Promise.all([fleet.add(), until(() => fleet.hasEnded(thread))])
    }
    noneTwice(await fleet.effects())
    report(t, 'killed', times, 1500)
  })

  test(`a process that is stopped for 10 s (${STOPS} times) loses its run, and writes nothing when it goes on`, async (t) => {
    await using fleet = await Fleet.start(await server.emptyDatabase(), 2)
    const times: number[] = []
    for (let round = 0; round < STOPS; round++) {
      const { thread, owner: victim } = await fleet.startRun(60)
      const stopped = fleet.machines.get(victim)
      stopped?.kill('SIGSTOP')
      const stoppedAt = performance.now()
      await fleet.isTakenFrom(thread, victim)
      times.push(performance.now() - stoppedAt)
      const epoch = (await fleet.store.getStream(thread))?.epoch
      await new Promise((resolve) => setTimeout(resolve, 10_000 - (performance.now() - stoppedAt)))
      stopped?.kill('SIGCONT')
      await until(() => fleet.hasEnded(thread))
      // Nobody else has owned the thread meanwhile, so everything since was written by the one that took it.
      assert.equal((await fleet.store.getStream(thread))?.epoch, epoch)
      // The revived process is of use again.
      const other = [...fleet.machines.keys()].find((pid) => pid !== victim)
      await fleet.kill(other ?? 0)
      const next = await fleet.submit('note 1')
      await until(() => fleet.hasEnded(next))
      await fleet.add()
    }
    noneTwice(await fleet.effects())
    report(t, 'stopped', times, 9000)
  })

  test(`a process whose line drops everything (${STOPS} times) loses its run before others take it, and comes back`, async (t) => {
    const url = await server.emptyDatabase()
    await using fleet = await Fleet.start(url, 0)
    const proxies = new Map<number, Proxy>()
    for (let machine = 0; machine < 2; machine++) {
      const proxy = await startProxy(url)
      proxies.set((await fleet.add({ URL: proxy.url })).pid ?? 0, proxy)
    }
    const times: number[] = []
    for (let round = 0; round < STOPS; round++) {
      const { thread, owner: victim } = await fleet.startRun(60)
      proxies.get(victim)?.hang()
      const hungAt = performance.now()
      await fleet.isTakenFrom(thread, victim)
      times.push(performance.now() - hungAt)
      const epoch = (await fleet.store.getStream(thread))?.epoch
      proxies.get(victim)?.cut()
      await until(() => fleet.hasEnded(thread))
      assert.equal((await fleet.store.getStream(thread))?.epoch, epoch)
    }
    noneTwice(await fleet.effects())
    report(t, 'cut off', times, 9000)
    for (const pid of proxies.keys()) await fleet.kill(pid)
    for (const proxy of proxies.values()) await proxy.close()
  })

  test('a process that is cut off has ended the program of its agent when another machine takes the thread', async () => {
    const url = await server.emptyDatabase()
    await using fleet = await Fleet.start(url, 0)
    const proxy = await startProxy(url)
    try {
      const { pid: victim = 0 } = await fleet.add({ URL: proxy.url, AGENT: 'program' })
      const thread = await fleet.submit('Go on for ever.')
      await until(async () => (await fleet.effects()).length > 0)
      const [, program] = (await fleet.effects())[0]?.split(' ') ?? []
      assert.ok(isAlive(Number(program)))
      await fleet.add()
      proxy.hang()
      await fleet.isTakenFrom(thread, victim)
      assert.ok(!isAlive(Number(program)), 'its program is still at work')
      await fleet.kill(victim)
    } finally {
      await proxy.close()
    }
  })

  test('a process that is asked to end leaves its run at a step; another continues it, and nothing is in doubt', async () => {
    await using fleet = await Fleet.start(await server.emptyDatabase(), 2)
    const { thread, owner } = await fleet.startRun(50)
    await fleet.kill(owner, 'SIGTERM')
    await until(() => fleet.hasEnded(thread))
    // Deploying often does not use up the attempts of a long run.
    assert.deepEqual(await fleet.resumptions(thread), ['takeover 1'])
    const effects = await fleet.effects()
    assert.equal(effects.length, 50)
    assert.equal(new Set(effects).size, 50)
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

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

function report(t: TestContext, what: string, times: readonly number[], limit: number): void {
  const p99 = percentile(times, 0.99)
  t.diagnostic(
    `${what}: taken over after ${percentile(times, 0.5)} ms (median), ${p99} ms (p99), ${percentile(times, 1)} ms (longest)`,
  )
  if (IS_SOAK) assert.ok(p99 <= limit, `p99 is ${p99} ms, and the limit ${limit} ms`)
}
