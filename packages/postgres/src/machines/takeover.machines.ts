import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { startPostgres, type PostgresServer } from '../server.fixture.ts'
import { Fleet, until } from './fleet.fixture.ts'

let server: PostgresServer
before(async () => {
  server = await startPostgres()
})
after(() => server.stop())

/** Enough to see the common case here. `INSPAN_KILLS=200 npm run test:soak` takes its time. */
const KILLS = Number(process.env['INSPAN_KILLS'] ?? 6)

suite('machines that share a database', () => {
  test('any of them carries out a command that another process left in the database, once', async () => {
    const fleet = await Fleet.start(await server.emptyDatabase(), 2)
    const threads = await Promise.all(Array.from({ length: 10 }, () => fleet.submit('note 2')))
    for (const thread of threads) await until(() => fleet.hasEnded(thread))
    const effects = await fleet.effects()
    assert.equal(effects.length, 20)
    assert.equal(new Set(effects).size, 20)
    await fleet.stop()
  })

  test(`a run goes on elsewhere when its process is killed (${KILLS} times), and no effect happens twice`, async (t) => {
    const fleet = await Fleet.start(await server.emptyDatabase(), 3)
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
    await fleet.stop()
  })
})
