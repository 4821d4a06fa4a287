import { randomUUID } from 'node:crypto'
import { InspanError } from '@inspan/protocol'
import type { Session } from '../connection.ts'
import { APPEND_SQL } from './append-function.ts'
import { TABLES_SQL } from './tables.ts'
import { TENANCY_SQL } from './tenancy.ts'

interface Migration {
  readonly layout: number
  /** The oldest layout whose release can still work on a database of this one. */
  readonly oldest: number
  readonly sql: string
}

/**
 * One entry per released layout, never changed afterwards. A migration first only adds: the release before it goes on
 * working beside the new one, and what it no longer needs is removed one release later.
 */
const MIGRATIONS: readonly Migration[] = [{ layout: 1, oldest: 1, sql: TABLES_SQL + TENANCY_SQL + APPEND_SQL }]

export const LAYOUT: number = Math.max(...MIGRATIONS.map(({ layout }) => layout))

/** "inspan" as a number: everybody who migrates this database waits for this lock. */
const MIGRATION_LOCK = 0x696e7370

/** Brings the tables up to date and returns the epoch of the data. Runs in a transaction. */
export async function migrate(db: Session): Promise<string> {
  await db.run('SELECT pg_advisory_xact_lock($1)', MIGRATION_LOCK)
  const [found] = await db.all<{ exists: boolean }>(`SELECT to_regclass('inspan.meta') IS NOT NULL AS exists`)
  if (found?.exists !== true) {
    await db.exec('CREATE SCHEMA IF NOT EXISTS inspan')
    await db.exec('CREATE TABLE inspan.meta (name text PRIMARY KEY, value text NOT NULL)')
  }
  const layout = Number((await readMeta(db, 'layout')) ?? 0)
  const oldest = Number((await readMeta(db, 'oldest')) ?? 0)
  if (oldest > LAYOUT) {
    throw new InspanError('newer-version', `The database has layout ${layout}, and this release knows ${LAYOUT}.`, {
      hint: 'Upgrade @inspan/postgres on this machine.',
      details: { layout, oldest, known: LAYOUT },
    })
  }
  for (const migration of MIGRATIONS.filter((each) => each.layout > layout)) {
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
const ORIGIN_SQL = `SELECT concat_ws(':', (SELECT system_identifier FROM pg_control_system()),
  left(pg_walfile_name(pg_current_wal_insert_lsn()), 8),
  (SELECT oid FROM pg_database WHERE datname = current_database()), 'inspan.meta'::regclass::oid) AS origin`

async function noteOrigin(db: Session): Promise<string> {
  const [row] = await db.all<{ origin: string }>(ORIGIN_SQL)
  const origin = row?.origin ?? ''
  const known = await readMeta(db, 'epoch')
  if (known !== undefined && (await readMeta(db, 'origin')) === origin) return known
  const epoch = randomUUID()
  await writeMeta(db, 'epoch', epoch)
  await writeMeta(db, 'origin', origin)
  return epoch
}

async function readMeta(db: Session, name: string): Promise<string | undefined> {
  const [row] = await db.all<{ value: string }>('SELECT value FROM inspan.meta WHERE name = $1', name)
  return row?.value
}

async function writeMeta(db: Session, name: string, value: string): Promise<void> {
  const sql = 'INSERT INTO inspan.meta (name, value) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = $2'
  await db.run(sql, name, value)
}
