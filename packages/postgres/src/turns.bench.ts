/**
 * Measures turns on Postgres relative to SQLite, both waiting for the disk: in one thread, and in a hundred at once. Then
 * the connections that a thousand threads at work take, relative to ten.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Agent, Harness, SqliteStore } from '@inspan/core'
import type { Store } from '@inspan/protocol/store'
import { compare, report, scriptedModel } from '@inspan/testing'
import { PostgresStore } from './postgres-store.ts'
import { installedPrograms } from './programs.fixture.ts'
import { startPostgres, withClient } from './server.fixture.ts'

const MANY = 100
const TURNS = 5
const MAX_CONNECTIONS = 10

type Session = Awaited<ReturnType<Harness['createSession']>>

/** Sessions with a thread each, in a store. */
async function sessionsIn(storage: Store, count: number): Promise<{ harness: Harness; sessions: Session[] }> {
  const model = scriptedModel([{ text: ['It ', 'is ', 'done.'], repeat: true }])
  const harness = new Harness({
    id: 'bench',
    agent: new Agent({ id: 'agent', model }),
    modes: [{ id: 'chat' }],
    storage,
  })
  const sessions: Session[] = []
  for (let n = 0; n < count; n++) {
    const session = await harness.createSession({ resourceId: `r${n}` })
    await session.thread.create()
    sessions.push(session)
  }
  return { harness, sessions }
}

/** Has every session take turns, all at once. Returns how many there were. */
async function takeTurns(sessions: readonly Session[], turns: number): Promise<number> {
  await Promise.all(
    sessions.map(async (session) => {
      for (let turn = 0; turn < turns; turn++) await session.sendMessage({ content: 'Go.' })
    }),
  )
  return sessions.length * turns
}

async function besideSqlite(url: string, folder: string, count: number, limit: number): Promise<void> {
  const sqlite = new SqliteStore({ url: `file:${join(folder, `${count}.db`)}`, durability: 'power' })
  const postgres = await PostgresStore.open({ url, maxConnections: MAX_CONNECTIONS })
  const [floor, ours] = [await sessionsIn(sqlite, count), await sessionsIn(postgres, count)]
  const turns = count === 1 ? TURNS : 1
  const threads = count === 1 ? 'one thread' : `${count} threads at once`
  report(
    await compare({
      name: `a turn on Postgres, ${threads}, relative to SQLite, both waiting for the disk`,
      limit,
      rounds: count === 1 ? 40 : 8,
      floor: () => takeTurns(floor.sessions, turns),
      ours: () => takeTurns(ours.sessions, turns),
    }),
  )
  for (const { harness } of [floor, ours]) await harness.destroy()
  await sqlite.close()
  await postgres.close()
}

/** The most connections seen while so many threads take turns at once. */
async function connectionsOf(url: string, count: number): Promise<number> {
  const store = await PostgresStore.open({ url, maxConnections: MAX_CONNECTIONS })
  const { harness, sessions } = await sessionsIn(store, count)
  let most = 0
  const over = new AbortController()
  const counting = withClient(url, async (client) => {
    while (!over.signal.aborted) {
      const { rows } = await client.query(`SELECT count(*)::int AS n FROM pg_stat_activity
        WHERE datname = current_database() AND application_name LIKE 'inspan%'`)
      most = Math.max(most, (rows as { n: number }[])[0]?.n ?? 0)
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
  })
  await takeTurns(sessions, count < MANY ? MANY : 1)
  over.abort()
  await counting
  await harness.destroy()
  await store.close()
  return most
}

// Elsewhere nobody needs it to run the other benchmarks.
if (installedPrograms() !== undefined) {
  const folder = await mkdtemp(join(tmpdir(), 'inspan-turns-'))
  const server = await startPostgres({ isDurable: true })
  await besideSqlite(await server.emptyDatabase(), folder, 1, 2)
  await besideSqlite(await server.emptyDatabase(), folder, MANY, 1)
  const floor = await connectionsOf(await server.emptyDatabase(), 10)
  const ours = await connectionsOf(await server.emptyDatabase(), 1000)
  const name = 'connections of 1,000 threads at work, relative to 10'
  report({ name, ratio: ours / floor, limit: 1, unit: 'connections', floor, ours })
  await server.stop()
  await rm(folder, { recursive: true })
}
