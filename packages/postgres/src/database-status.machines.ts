import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { InspanError } from '@inspan/protocol'
import { readDatabaseStatus } from './database-status.ts'
import { AFTER_NEXT, migrateTo, NEXT } from './next-release.fixture.ts'
import { PostgresStore } from './postgres-store.ts'
import { MIGRATIONS } from './schema/migrate.ts'
import { startPostgres, withClient, type PostgresServer } from './server.fixture.ts'

let server: PostgresServer
before(async () => {
  server = await startPostgres()
})
after(() => server.stop())

const KNOWN = MIGRATIONS.at(-1)?.layout ?? 0
const NOTHING = { machines: [], commands: 0, waits: 0 }

suite('the status of a database', () => {
  test('creates no tables where there are none', async () => {
    const url = await server.emptyDatabase()
    assert.deepEqual(await readDatabaseStatus(url), { layout: null, known: KNOWN, isUsable: true, ...NOTHING })
    const { rows } = await withClient(url, (client) =>
      client.query(`SELECT nspname FROM pg_namespace WHERE nspname LIKE 'harness%'`),
    )
    assert.deepEqual(rows, [])
  })

  test('shows tables of a newer release as they are, and whether this one can work on them', async () => {
    const url = await server.emptyDatabase()
    await migrateTo(url, NEXT)
    const known = { known: KNOWN, ...NOTHING }
    assert.deepEqual(await readDatabaseStatus(url), { layout: NEXT.layout, isUsable: true, ...known })
    await migrateTo(url, NEXT, AFTER_NEXT)
    assert.deepEqual(await readDatabaseStatus(url), { layout: AFTER_NEXT.layout, isUsable: false, ...known })
  })

  test('counts everything, however much that is, and says how long a process has been silent', async () => {
    const url = await server.emptyDatabase()
    const store = await PostgresStore.open({ url })
    try {
      for (const [pid, id] of ['lives', 'silent'].entries()) {
        await store.putOwner({ id, host: 'h', pid, startTime: '1', bootId: 'b', until: Date.now() + 30_000 })
      }
      for (const id of ['one', 'two', 'free']) {
        const info = { id, resourceId: 'r', title: null, createdAt: 1, updatedAt: 1, hidden: false, metadata: {} }
        await store.createStream({ kind: 'thread', info, headSeq: 0 })
      }
      await store.claim('one', 'lives')
      await store.claim('two', 'lives')
      await withClient(url, async (client) => {
        await client.query(
          `UPDATE harness.owners SET beat_at = clock_timestamp() - interval '90 s' WHERE id = 'silent'`,
        )
        await client.query(`INSERT INTO harness.commands
            (principal, client_id, command_id, body_hash, target, state, at, body)
          SELECT 'p', 'c', n::text, 'h', 'free', CASE WHEN n <= 1500 THEN 'accepted' ELSE 'done' END, 1, '{}'
          FROM generate_series(1, 1600) AS n`)
        await client.query(`INSERT INTO harness.waits (stream_no, id, state, opened_at, wait)
          SELECT no, n::text, CASE WHEN n <= 1200 THEN 'pending' ELSE 'answered' END, 1, '{}'
          FROM harness.streams, generate_series(1, 1300) AS n WHERE id = 'free'`)
      })
      const { commands, machines, waits } = await readDatabaseStatus(url)
      assert.deepEqual([commands, waits], [1500, 1200])
      assert.deepEqual(
        machines.map(({ owner, pid, threads }) => [owner, pid, threads]),
        [
          ['lives', 0, 2],
          ['silent', 1, 0],
        ],
      )
      const [lives, silent] = machines
      assert.ok((silent?.silentMs ?? 0) >= 90_000)
      assert.ok((lives?.silentMs ?? Infinity) < 90_000)
    } finally {
      await store.close()
    }
  })

  test('names what is wrong with a url, and suspects no write where there was no connection', async () => {
    const url = await server.emptyDatabase()
    await assert.rejects(readDatabaseStatus('mysql://localhost/x'), (error) => InspanError.is(error, 'invalid-input'))
    await assert.rejects(readDatabaseStatus(`${url}_missing`), (error) => InspanError.is(error, 'not-found'))
    await assert.rejects(readDatabaseStatus('postgres://inspan@%2Fnowhere/x'), (error) => {
      assert.ok(InspanError.is(error, 'io'))
      assert.match(error.hint ?? '', /^Check that the server is running, and host and port in the url\.$/)
      return true
    })
  })
})
