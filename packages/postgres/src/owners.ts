import { checkId, checkTime, CursorScope, pageLimit, pageOf } from '@inspan/core/stores'
import type { Owner, Page, PageRequest } from '@inspan/protocol/store'
import type { Session } from './connection.ts'

interface OwnerRow {
  id: string
  host: string
  pid: number
  start_time: string
  boot_id: string
  until: number
  url: string | null
}

/**
 * How far the database's clock is ahead of the caller's, whose time is `now`. Leases are stored in the time of the
 * database, so it does not matter how far apart two machines' clocks are. Whole steps of ten seconds, a third of a lease:
 * the time a statement is under way must not look like a difference.
 */
function skewSql(now: string): string {
  return `(round((extract(epoch FROM clock_timestamp()) * 1000 - ${now}::float8)::numeric / 10000) * 10000)::float8`
}

const COLUMNS = 'id, host, pid, start_time, boot_id, url'

export async function putOwner(db: Session, owner: Owner, now: number): Promise<void> {
  checkId('An owner id', owner.id)
  checkTime('The end of an ownership', owner.until)
  await db.run(
    `INSERT INTO inspan.owners (${COLUMNS}, until) VALUES ($1, $2, $3, $4, $5, $6, $7 + ${skewSql('$8')})
     ON CONFLICT (id) DO UPDATE SET host = excluded.host, pid = excluded.pid, start_time = excluded.start_time,
       boot_id = excluded.boot_id, until = excluded.until, url = excluded.url`,
    owner.id,
    owner.host,
    owner.pid,
    owner.startTime,
    owner.bootId,
    owner.url ?? null,
    owner.until,
    now,
  )
}

export async function heartbeat(db: Session, owner: string, until: number, now: number): Promise<boolean> {
  checkTime('The end of an ownership', until)
  const sql = `UPDATE inspan.owners SET until = $2 + ${skewSql('$3')} WHERE id = $1`
  return (await db.run(sql, owner, until, now)) > 0
}

export async function getOwner(db: Session, id: string, now: number): Promise<Owner | null> {
  const sql = `SELECT ${COLUMNS}, until - ${skewSql('$2')} AS until FROM inspan.owners WHERE id = $1`
  const [row] = await db.all<OwnerRow>(sql, id, now)
  return row === undefined ? null : ownerOf(row)
}

export async function listOwners(db: Session, query: PageRequest, now: number): Promise<Page<Owner>> {
  const limit = pageLimit(query)
  const scope = new CursorScope(['owners'], [''])
  const [after] = scope.decode(query.cursor)
  const rows = await db.all<OwnerRow>(
    `SELECT ${COLUMNS}, until - ${skewSql('$3')} AS until FROM inspan.owners WHERE id > $1 ORDER BY id LIMIT $2`,
    after,
    limit + 1,
    now,
  )
  return pageOf(rows, limit, ownerOf, (last) => scope.encode([last.id]))
}

function ownerOf(row: OwnerRow): Owner {
  return {
    id: row.id,
    host: row.host,
    pid: row.pid,
    startTime: row.start_time,
    bootId: row.boot_id,
    until: row.until,
    ...(row.url === null ? {} : { url: row.url }),
  }
}
