import type { WaitCancelReason } from '@inspan/protocol'
import type { Page, WaitRow } from '@inspan/protocol/store'
import { checkId } from '../shared/input-checks.ts'
import type { PreparedWait } from '../shared/prepared-append.ts'
import {
  dueScope,
  erasedRow,
  waitFromRow,
  waitsScope,
  type DueQuery,
  type StoredWait,
  type WaitQuery,
} from '../shared/wait-row.ts'
import { wholeRow } from './blobs.ts'
import type { SqliteConnection } from './connection.ts'
import { limitSql } from './keys.ts'

const SELECT = `SELECT waits.no, streams.id AS stream, waits.id, waits.state, waits.due, waits.wait, waits.settled
  FROM waits JOIN streams ON streams.no = waits.stream_no`

export function putWait(db: SqliteConnection, streamNo: number, wait: PreparedWait): void {
  db.run(
    `INSERT INTO waits (stream_no, id, state, opened_at, due, wait, settled) VALUES (?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (stream_no, id) DO UPDATE SET state = excluded.state, opened_at = excluded.opened_at,
       due = excluded.due, wait = excluded.wait, settled = excluded.settled`,
    streamNo,
    wait.id,
    wait.state,
    wait.openedAt,
    wait.due,
    wait.wait,
    wait.settled,
  )
}

export function getWait(db: SqliteConnection, stream: string, waitId: string): WaitRow | null {
  checkId('A wait id', waitId)
  const row = db.get(`${SELECT} WHERE streams.id = ? AND waits.id = ?`, stream, waitId) as StoredWait | undefined
  return row === undefined ? null : waitOf(db, row)
}

export function listWaits(db: SqliteConnection, query: WaitQuery): Page<WaitRow> {
  const { root, stream, state } = query
  const values = [stream, root, state].filter((value) => value !== undefined)
  const at = (value: string): string => `?${values.indexOf(value) + 3}`
  const filters = [
    'streams.deleted = 0',
    ...(stream === undefined ? [] : [`waits.stream_no = (SELECT no FROM streams WHERE id = ${at(stream)})`]),
    ...(root === undefined ? [] : [`waits.stream_no IN (${threadsBelow(at(root))})`]),
    ...(state === undefined ? [] : [`waits.state = ${at(state)}`]),
  ]
  const sql = `${SELECT} WHERE ${[...filters, 'waits.no > ?1'].join(' AND ')} ORDER BY waits.no ${limitSql('?2')}`
  return waitsScope(query).page(
    query,
    ([after], count) => db.all<StoredWait>(sql, after, count, ...values),
    (row) => waitOf(db, row),
    (last) => [last.no],
  )
}

function threadsBelow(root: string): string {
  return `SELECT no FROM threads WHERE root = ${root} UNION SELECT no FROM streams WHERE id = ${root}`
}

export function listDue(db: SqliteConnection, query: DueQuery): Page<WaitRow> {
  const sql = `${SELECT} WHERE waits.state = 'pending' AND waits.due IS NOT NULL
      AND waits.due <= ? AND (waits.due, waits.no) > (?, ?) AND streams.deleted = 0
    ORDER BY waits.due, waits.no LIMIT ?`
  return dueScope(query).page(
    query,
    (position, count) => db.all<StoredWait & { due: number }>(sql, query.now, ...position, count),
    (row) => waitOf(db, row),
    (last) => [last.due, last.no],
  )
}

/** The number of waits in memory at a time while they are erased. */
const ERASE_CHUNK = 500

/** Erases the content of the waits opened in the range; those still pending are cancelled. */
export function eraseWaits(
  db: SqliteConnection,
  streamNo: number,
  range: { from: number; to: number },
  reason: WaitCancelReason,
  now: number,
): void {
  let last = 0
  for (;;) {
    const rows = db.all<Omit<StoredWait, 'stream' | 'due'>>(
      `SELECT no, id, state, wait, settled FROM waits
       WHERE stream_no = ? AND opened_at BETWEEN ? AND ? AND no > ? ORDER BY no LIMIT ?`,
      streamNo,
      range.from,
      range.to,
      last,
      ERASE_CHUNK,
    )
    for (const row of rows) {
      const { settled, state, wait } = erasedRow(row, reason, now)
      db.run('UPDATE waits SET wait = ?, state = ?, settled = ? WHERE no = ?', wait, state, settled, row.no)
    }
    if (rows.length < ERASE_CHUNK) return
    last = rows.at(-1)?.no ?? last
  }
}

function waitOf(db: SqliteConnection, row: StoredWait): WaitRow {
  return waitFromRow(row, (wait) => wholeRow(db, wait))
}
