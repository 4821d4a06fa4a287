import { randomUUID } from 'node:crypto'
import { InspanError } from '@inspan/protocol'
import type { SqlSession } from '../connection.ts'
import { APPEND_SQL } from './append-function.ts'
import { TABLES_SQL } from './tables.ts'
import { PRIVATE_FUNCTIONS_SQL, TENANCY_SQL } from './tenancy.ts'

export interface PostgresMigration {
  readonly layout: number
  /** The oldest layout whose release can still work on a database of this one. */
  readonly oldest: number
  readonly sql: string
}

/**
 * One entry per released layout, never changed afterwards. A migration first only adds: the release before it goes on
 * working beside the new one, and what it no longer needs is removed one release later.
 */
export const MIGRATIONS: readonly PostgresMigration[] = [
  { layout: 1, oldest: 1, sql: TABLES_SQL + TENANCY_SQL + APPEND_SQL + PRIVATE_FUNCTIONS_SQL },
]

/** "inspan" as a number: everybody who migrates this database waits for this lock. */
const MIGRATION_LOCK = 0x696e7370

/** Where the data is, and the epoch it has there. */
export interface DataIdentity {
  readonly origin: string
  readonly epoch: string
}

/** What is there, and what this release brings. */
export interface LayoutStatus {
  /** Null: there are no tables yet. */
  readonly layout: number | null
  readonly known: number
  /** Whether this release can work on it. Tables that are missing are no obstacle: it adds them when it starts. */
  readonly isUsable: boolean
}

/** Looks at the tables and changes nothing. */
export async function readLayout(
  db: SqlSession,
  migrations: readonly PostgresMigration[] = MIGRATIONS,
): Promise<LayoutStatus> {
  const known = Math.max(...migrations.map(({ layout }) => layout))
  if (!(await hasTables(db))) return { layout: null, known, isUsable: true }
  const layout = Number((await readMeta(db, 'layout')) ?? 0)
  return { layout, known, isUsable: Number((await readMeta(db, 'oldest')) ?? 0) <= known }
}

async function hasTables(db: SqlSession): Promise<boolean> {
  const [found] = await db.all<{ exists: boolean }>(`SELECT to_regclass('harness.meta') IS NOT NULL AS exists`)
  return found?.exists === true
}

/** Brings the tables up to date and returns the identity of the data. Runs in a transaction. */
export async function migrate(
  db: SqlSession,
  migrations: readonly PostgresMigration[] = MIGRATIONS,
): Promise<DataIdentity> {
  const known = Math.max(...migrations.map(({ layout }) => layout))
  await db.run('SELECT pg_advisory_xact_lock($1)', MIGRATION_LOCK)
  if (!(await hasTables(db))) {
    await db.exec('CREATE SCHEMA IF NOT EXISTS harness')
    await db.exec('CREATE TABLE harness.meta (name text PRIMARY KEY, value text NOT NULL)')
  }
  const layout = Number((await readMeta(db, 'layout')) ?? 0)
  const oldest = Number((await readMeta(db, 'oldest')) ?? 0)
  if (oldest > known) {
    throw new InspanError('newer-version', `The database has layout ${layout}, and this release knows ${known}.`, {
      hint: 'Upgrade @inspan/postgres on this machine.',
      details: { layout, oldest, known },
    })
  }
  for (const migration of migrations.filter((each) => each.layout > layout)) {
    await db.exec(migration.sql)
    await writeMeta(db, 'layout', String(migration.layout))
    await writeMeta(db, 'oldest', String(migration.oldest))
  }
  return noteOrigin(db)
}

/**
 * The identity of the data: cluster, timeline, database and table. A restored dump differs in one of the last two, a
 * cluster that was promoted or recovered to an earlier point in its timeline. Commits may be missing then.
 */
export const ORIGIN_SQL = `SELECT concat_ws(':', (SELECT system_identifier FROM pg_control_system()),
  left(pg_walfile_name(pg_current_wal_insert_lsn()), 8),
  (SELECT oid FROM pg_database WHERE datname = current_database()), 'harness.meta'::regclass::oid) AS origin`

async function noteOrigin(db: SqlSession): Promise<DataIdentity> {
  const [row] = await db.all<{ origin: string }>(ORIGIN_SQL)
  const origin = row?.origin ?? ''
  const known = await readMeta(db, 'epoch')
  if (known !== undefined && (await readMeta(db, 'origin')) === origin) return { origin, epoch: known }
  const epoch = randomUUID()
  await writeMeta(db, 'epoch', epoch)
  await writeMeta(db, 'origin', origin)
  return { origin, epoch }
}

async function readMeta(db: SqlSession, name: string): Promise<string | undefined> {
  const [row] = await db.all<{ value: string }>('SELECT value FROM harness.meta WHERE name = $1', name)
  return row?.value
}

async function writeMeta(db: SqlSession, name: string, value: string): Promise<void> {
  const sql = 'INSERT INTO harness.meta (name, value) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = $2'
  await db.run(sql, name, value)
}
