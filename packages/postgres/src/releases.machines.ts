import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { storeContract } from '@inspan/testing/contracts'
import { InspanError } from '@inspan/protocol'
import { REDUCER_VERSION } from '@inspan/protocol/log'
import { Fleet, noneTwice, until } from './fleet/fleet.fixture.ts'
import { AFTER_NEXT, migrateTo, NEXT } from './next-release.fixture.ts'
import { PostgresStore } from './postgres-store.ts'
import { MIGRATIONS, type PostgresMigration } from './schema/migrate.ts'
import { startPostgres, withClient, type PostgresServer } from './server.fixture.ts'

let server: PostgresServer
before(async () => {
  server = await startPostgres()
})
after(() => server.stop())

// This release is the older one: all that it promises holds on a database that the next one has migrated.
storeContract({
  name: 'PostgresStore on the layout of the next release',
  open: async (how) => {
    const url = await server.emptyDatabase()
    await migrateTo(url, NEXT)
    let store = await PostgresStore.open({ url, ...how })
    return {
      store,
      reopen: async (again = how) => {
        await store.close()
        store = await PostgresStore.open({ url, ...again })
        return store
      },
      close: async () => {
        await store.close()
        await server.releaseDatabase(url)
      },
    }
  },
})

suite('two releases side by side', () => {
  test('during a rolling deploy both work, each on what it knows, and nothing happens twice', async () => {
    const url = await server.emptyDatabase()
    await using fleet = await Fleet.start(url, 2)
    const old = Array.from(fleet.machines.keys())
    const long = await fleet.submit('note 60')
    await until(async () => (await fleet.effects()).length > 2)
    // The next release migrates the database under the one that is running.
    await fleet.add({ RELEASE: 'next' })
    const both = await Promise.all(Array.from({ length: 10 }, () => fleet.submit('note 3')))
    for (const thread of [long, ...both]) await until(() => fleet.hasEnded(thread))
    await fleet.add({ RELEASE: 'next' })
    // A run that the old release is in the middle of goes on in the new one.
    const handed = await fleet.submit('note 60')
    const before = (await fleet.effects()).length
    await until(async () => (await fleet.effects()).length > before + 2)
    for (const pid of old) await fleet.kill(pid, 'SIGTERM')
    await until(() => fleet.hasEnded(handed))
    for (const thread of both) await fleet.send(thread, 'note 2')
    await until(async () => (await fleet.effects()).length === 60 + 30 + 60 + 20)
    noneTwice(await fleet.effects())
    await until(async () => (await versionsOf(url, both[0] ?? '')).includes(REDUCER_VERSION + 1))
    // An old machine that is started by mistake is of no use, and does no harm.
    await fleet.add()
    const late = await fleet.store.claim(handed, 'old').catch((error: unknown) => error)
    assert.ok(InspanError.is(late, 'newer-version'), String(late))
    assert.ok((await fleet.store.readRecords(handed, { limit: 10 })).items.length > 0)
  })

  test('heads of both reducers are kept apart, and each release reads its own', async () => {
    const url = await server.emptyDatabase()
    await using fleet = await Fleet.start(url, 1)
    const thread = await fleet.submit('note 1')
    await until(() => fleet.hasEnded(thread))
    const [first] = fleet.machines.keys()
    await fleet.kill(first ?? 0, 'SIGTERM')
    const ownHead = await headOf(url, thread, REDUCER_VERSION)
    assert.ok(ownHead !== undefined)
    await fleet.add({ RELEASE: 'next' })
    await fleet.send(thread, 'note 1')
    await until(async () => (await versionsOf(url, thread)).length === 2)
    assert.deepEqual(await versionsOf(url, thread), [REDUCER_VERSION, REDUCER_VERSION + 1])
    assert.equal(await headOf(url, thread, REDUCER_VERSION), ownHead)
  })

  test('a layout is only contracted once the release that needed it is gone', async () => {
    const url = await server.emptyDatabase()
    const old = await PostgresStore.open({ url })
    await migrateTo(url, NEXT)
    await (await PostgresStore.open({ url })).close()
    await migrateTo(url, NEXT, AFTER_NEXT)
    await assert.rejects(PostgresStore.open({ url }), (error) => InspanError.is(error, 'newer-version'))
    // The release in between goes on.
    await migrateTo(url, NEXT)
    await old.close()
  })

  test('every migration leaves what the release before it uses', async () => {
    const layouts = MIGRATIONS.slice(1)
    for (const migration of [...layouts, NEXT]) {
      assert.ok(migration.oldest < migration.layout, `layout ${migration.layout} shuts out the release before it`)
      assert.deepEqual(await takenAway([...layouts, NEXT], migration), [], `layout ${migration.layout}`)
    }
    // What it is there to find:
    const taken = (sql: string): Promise<string[]> => {
      const migration = { layout: NEXT.layout, oldest: NEXT.oldest, sql }
      return takenAway([migration], migration)
    }
    assert.deepEqual(await taken('ALTER TABLE harness.records DROP COLUMN extra'), ['column records.extra text'])
    assert.deepEqual(await taken('ALTER TABLE harness.waits RENAME due TO due_at'), [
      'column waits.due double precision',
    ])
    assert.deepEqual(await taken('ALTER TABLE harness.commands ADD COLUMN kind text NOT NULL'), [
      'insert into commands',
    ])
    assert.deepEqual(await taken('DROP FUNCTION harness.drop_blobs'), ['function drop_blobs(text[])'])
  })
})

async function versionsOf(url: string, thread: string): Promise<number[]> {
  return withClient(url, async (client) => {
    const { rows } = await client.query(
      `SELECT version FROM harness.heads JOIN harness.streams ON streams.no = heads.stream_no
       WHERE streams.id = $1 ORDER BY version`,
      [thread],
    )
    return (rows as { version: number }[]).map(({ version }) => version)
  })
}

async function headOf(url: string, thread: string, version: number): Promise<string | undefined> {
  return withClient(url, async (client) => {
    const { rows } = await client.query(
      `SELECT json FROM harness.heads JOIN harness.streams ON streams.no = heads.stream_no
       WHERE streams.id = $1 AND version = $2`,
      [thread, version],
    )
    return (rows as { json: string }[])[0]?.json
  })
}

/** What a release of the layout before could use, and no longer can. */
async function takenAway(later: readonly PostgresMigration[], migration: PostgresMigration): Promise<string[]> {
  const url = await server.emptyDatabase()
  await migrateTo(url, ...later.filter(({ layout }) => layout < migration.layout))
  const before = await usable(url)
  await migrateTo(url, ...later.filter(({ layout }) => layout <= migration.layout))
  const left = new Set(await usable(url))
  // What a release does not know, it leaves out when it inserts a row.
  const added = await withClient(url, (client) => client.query(REQUIRED_SQL))
  const required = new Set(
    (added.rows as { column: string; table: string }[]).map(({ column, table }) => `${table}.${column}`),
  )
  const isKnown = (name: string): boolean => before.some((fact) => fact.startsWith(`column ${name}`))
  const newlyRequired = [...required].filter((name) => isKnown(`${name.split('.')[0]}.`) && !isKnown(`${name} `))
  await server.releaseDatabase(url)
  return [
    ...before.filter((fact) => !left.has(fact)),
    ...newlyRequired.map((name) => `insert into ${name.split('.')[0]}`),
  ]
}

async function usable(url: string): Promise<string[]> {
  const { rows } = await withClient(url, (client) => client.query(USABLE_SQL))
  return (rows as { fact: string }[]).map(({ fact }) => fact)
}

const USABLE_SQL = `SELECT 'column ' || table_name || '.' || column_name || ' ' || data_type AS fact
    FROM information_schema.columns WHERE table_schema = 'harness'
  UNION ALL SELECT 'function ' || replace(oid::regprocedure::text, 'harness.', '') FROM pg_proc
    WHERE pronamespace = 'harness'::regnamespace ORDER BY 1`

const REQUIRED_SQL = `SELECT table_name AS table, column_name AS column FROM information_schema.columns
  WHERE table_schema = 'harness' AND is_nullable = 'NO' AND column_default IS NULL AND is_identity = 'NO'`
