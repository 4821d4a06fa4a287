import type { Owner, Page, PageRequest } from '@inspan/protocol/store'
import { CursorScope } from '../cursor.ts'
import { checkId, checkTime, pageLimit } from '../input-checks.ts'
import { pageOf } from '../paging.ts'
import type { Connection } from './connection.ts'

interface OwnerRow {
  id: string
  host: string
  pid: number
  start_time: string
  boot_id: string
  until: number
  url: string | null
}

const COLUMNS = 'id, host, pid, start_time, boot_id, until, url'

export function putOwner(db: Connection, owner: Owner): void {
  checkId('An owner id', owner.id)
  checkTime('The end of an ownership', owner.until)
  db.run(
    `INSERT INTO owners (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET host = excluded.host, pid = excluded.pid, start_time = excluded.start_time,
       boot_id = excluded.boot_id, until = excluded.until, url = excluded.url`,
    owner.id,
    owner.host,
    owner.pid,
    owner.startTime,
    owner.bootId,
    owner.until,
    owner.url ?? null,
  )
}

export function heartbeat(db: Connection, owner: string, until: number): boolean {
  checkTime('The end of an ownership', until)
  return db.run('UPDATE owners SET until = ? WHERE id = ?', until, owner) > 0
}

export function getOwner(db: Connection, id: string): Owner | null {
  const row = db.get(`SELECT ${COLUMNS} FROM owners WHERE id = ?`, id) as OwnerRow | undefined
  return row === undefined ? null : ownerOf(row)
}

export function listOwners(db: Connection, query: PageRequest): Page<Owner> {
  const limit = pageLimit(query)
  const scope = new CursorScope(['owners'], [''])
  const [after] = scope.decode(query.cursor)
  const rows = db.all<OwnerRow>(`SELECT ${COLUMNS} FROM owners WHERE id > ? ORDER BY id LIMIT ?`, after, limit + 1)
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
