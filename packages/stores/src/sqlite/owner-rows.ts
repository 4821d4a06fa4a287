import type { Owner, Page, PageRequest } from '@inspan/protocol/store'
import { CursorScope } from '../shared/cursor.ts'
import { checkId, checkTime } from '../shared/input-checks.ts'
import { ownerFromRow, type OwnerRow } from '../shared/owner-row.ts'
import type { SqliteConnection } from './connection.ts'

const COLUMNS = 'id, host, pid, start_time, boot_id, until, url'

export function putOwner(db: SqliteConnection, owner: Owner): void {
  checkId('An owner id', owner.id)
  checkTime('The end of an ownership', owner.until)
  const { host, pid, startTime, bootId, until, url = null } = owner
  const sql = `INSERT INTO owners (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET host = excluded.host, pid = excluded.pid, start_time = excluded.start_time,
       boot_id = excluded.boot_id, until = excluded.until, url = excluded.url`
  db.write(() => db.run(sql, owner.id, host, pid, startTime, bootId, until, url))
}

export function heartbeat(db: SqliteConnection, owner: string, until: number): boolean {
  checkTime('The end of an ownership', until)
  return db.write(() => db.run('UPDATE owners SET until = ? WHERE id = ?', until, owner) > 0)
}

export function getOwner(db: SqliteConnection, id: string): Owner | null {
  const row = db.get(`SELECT ${COLUMNS} FROM owners WHERE id = ?`, id) as OwnerRow | undefined
  return row === undefined ? null : ownerFromRow(row)
}

export function listOwners(db: SqliteConnection, query: PageRequest): Page<Owner> {
  const sql = `SELECT ${COLUMNS} FROM owners WHERE id > ? ORDER BY id LIMIT ?`
  return new CursorScope(['owners'], ['']).page(
    query,
    ([after], count) => db.all<OwnerRow>(sql, after, count),
    ownerFromRow,
    (last) => [last.id],
  )
}
