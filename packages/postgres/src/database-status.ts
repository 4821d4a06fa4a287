import { PostgresConnection, type SqlSession } from './connection.ts'
import { checkUrl, openPool } from './pool.ts'
import { readLayout } from './schema/migrate.ts'

/** What an operator sees of a database that machines share. */
export interface DatabaseStatus {
  /** The layout of the tables. Null: there are none yet. */
  readonly layout: number | null
  /** The layout that this release brings. */
  readonly known: number
  /** False if this release is too old for the tables. */
  readonly isUsable: boolean
  readonly machines: readonly MachineStatus[]
  /** Commands that were accepted and not carried out yet. */
  readonly commands: number
  /** Questions and other waits that are open. */
  readonly waits: number
}

/** A process that works on threads. */
export interface MachineStatus {
  readonly owner: string
  readonly host: string
  readonly pid: number
  /** How many threads it works on. */
  readonly threads: number
  /** How long ago it last showed that it lives, by the clock of the database. One that lives does so every 300 ms. */
  readonly silentMs: number
}

const MACHINES_SQL = `SELECT id AS owner, host, pid,
    (SELECT count(*) FROM harness.streams WHERE owner = owners.id AND kind = 'thread' AND deleted = 0) AS threads,
    greatest(0, extract(epoch FROM clock_timestamp() - beat_at) * 1000)::bigint AS "silentMs"
  FROM harness.owners ORDER BY host, pid, id`

const COUNTS_SQL = `SELECT (SELECT count(*) FROM harness.commands WHERE state = 'accepted') AS commands,
  (SELECT count(*) FROM harness.waits JOIN harness.streams ON streams.no = waits.stream_no
    WHERE state = 'pending' AND deleted = 0) AS waits`

/** Looks at a database without changing it: unlike a store that opens, it creates and migrates no tables. */
export async function readDatabaseStatus(url: string): Promise<DatabaseStatus> {
  checkUrl(url)
  const db = new PostgresConnection(await openPool(url, 1))
  try {
    return await readStatus(db)
  } finally {
    await db.close()
  }
}

async function readStatus(db: SqlSession): Promise<DatabaseStatus> {
  const layout = await readLayout(db)
  if (layout.layout === null || !layout.isUsable) return { ...layout, machines: [], commands: 0, waits: 0 }
  const machines = await db.all<MachineStatus>(MACHINES_SQL)
  const [counts] = await db.all<Pick<DatabaseStatus, 'commands' | 'waits'>>(COUNTS_SQL)
  return { ...layout, machines, commands: counts?.commands ?? 0, waits: counts?.waits ?? 0 }
}
