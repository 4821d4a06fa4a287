import { checkId, checkTime, CursorScope, ownerFromRow, pageLimit, pageOf, type OwnerRow } from '@inspan/stores/shared'
import type { Owner, Page, PageRequest } from '@inspan/protocol/store'
import type { SqlSession } from './connection.ts'

/**
 * How far the database's clock is ahead of the caller's, whose time is `now`. Leases are stored in the time of the
 * database, so it does not matter how far apart two machines' clocks are. Whole steps of ten seconds, a third of a lease:
 * the time a statement is under way must not look like a difference.
 */
function skewSql(now: string): string {
  return `(round((extract(epoch FROM clock_timestamp()) * 1000 - ${now}::float8)::numeric / 10000) * 10000)::float8`
}

/** An owner that has left has no lease in any clock. */
function storedSql(until: string, now: string): string {
  return `CASE WHEN ${until}::float8 = 0 THEN 0 ELSE ${until} + ${skewSql(now)} END`
}

function readSql(now: string): string {
  return `CASE WHEN until = 0 THEN 0 ELSE until - ${skewSql(now)} END AS until`
}

const COLUMNS = 'id, host, pid, start_time, boot_id, url'

export async function putOwner(db: SqlSession, owner: Owner, now: number): Promise<void> {
  checkId('An owner id', owner.id)
  checkTime('The end of an ownership', owner.until)
  await db.run(
    `INSERT INTO harness.owners (${COLUMNS}, until) VALUES ($1, $2, $3, $4, $5, $6, ${storedSql('$7', '$8')})
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

export async function heartbeat(db: SqlSession, owner: string, until: number, now: number): Promise<boolean> {
  checkTime('The end of an ownership', until)
  const sql = `UPDATE harness.owners SET until = ${storedSql('$2', '$3')} WHERE id = $1`
  return (await db.run(sql, owner, until, now)) > 0
}

export async function getOwner(db: SqlSession, id: string, now: number): Promise<Owner | null> {
  const sql = `SELECT ${COLUMNS}, ${readSql('$2')} FROM harness.owners WHERE id = $1`
  const [row] = await db.all<OwnerRow>(sql, id, now)
  return row === undefined ? null : ownerFromRow(row)
}

export async function listOwners(db: SqlSession, query: PageRequest, now: number): Promise<Page<Owner>> {
  const limit = pageLimit(query)
  const scope = new CursorScope(['owners'], [''])
  const [after] = scope.decode(query.cursor)
  const rows = await db.all<OwnerRow>(
    `SELECT ${COLUMNS}, ${readSql('$3')} FROM harness.owners WHERE id > $1 ORDER BY id LIMIT $2`,
    after,
    limit + 1,
    now,
  )
  return pageOf(rows, limit, ownerFromRow, (last) => scope.encode([last.id]))
}
