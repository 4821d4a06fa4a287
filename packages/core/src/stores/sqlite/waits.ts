import type { Wait, WaitCancelReason, WaitState } from '@inspan/protocol'
import type { Page, PageRequest, Store, WaitRow } from '@inspan/protocol/store'
import { CursorScope } from '../cursor.ts'
import { erasedWait } from '../erased-wait.ts'
import { checkId, checkTime, pageLimit } from '../input-checks.ts'
import { pageOf } from '../paging.ts'
import type { PreparedWait } from '../prepared-append.ts'
import { parseOrDamaged, tryParse } from '../record-row.ts'
import { wholeRow } from './blobs.ts'
import type { Connection } from './connection.ts'
import { limitSql } from './keys.ts'

interface StoredWait {
  no: number
  stream: string
  id: string
  state: WaitState
  wait: string
  settled: string | null
}

type WaitQuery = Parameters<Store['listWaits']>[0]

const SELECT = `SELECT waits.no, streams.id AS stream, waits.id, waits.state, waits.wait, waits.settled
  FROM waits JOIN streams ON streams.no = waits.stream_no`

export function putWait(db: Connection, streamNo: number, wait: PreparedWait): void {
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

export function getWait(db: Connection, stream: string, waitId: string): WaitRow | null {
  checkId('A wait id', waitId)
  const row = db.get(`${SELECT} WHERE streams.id = ? AND waits.id = ?`, stream, waitId) as StoredWait | undefined
  return row === undefined ? null : waitOf(db, row)
}

export function listWaits(db: Connection, query: WaitQuery): Page<WaitRow> {
  const limit = pageLimit(query)
  const { root, stream, state } = query
  const scope = new CursorScope(['waits', stream ?? null, root ?? null, state ?? null], [0])
  const [after] = scope.decode(query.cursor)
  const values = [stream, root, state].filter((value) => value !== undefined)
  const at = (value: string): string => `?${values.indexOf(value) + 3}`
  const filters = [
    'streams.deleted = 0',
    ...(stream === undefined ? [] : [`waits.stream_no = (SELECT no FROM streams WHERE id = ${at(stream)})`]),
    ...(root === undefined ? [] : [`waits.stream_no IN (${threadsBelow(at(root))})`]),
    ...(state === undefined ? [] : [`waits.state = ${at(state)}`]),
  ]
  const rows = db.all<StoredWait>(
    `${SELECT} WHERE ${[...filters, 'waits.no > ?1'].join(' AND ')} ORDER BY waits.no ${limitSql('?2')}`,
    after,
    limit + 1,
    ...values,
  )
  return pageOf(
    rows,
    limit,
    (row) => waitOf(db, row),
    (last) => scope.encode([last.no]),
  )
}

function threadsBelow(root: string): string {
  return `SELECT no FROM threads WHERE root = ${root} UNION SELECT no FROM streams WHERE id = ${root}`
}

export function listDue(db: Connection, query: PageRequest & { readonly now: number }): Page<WaitRow> {
  const limit = pageLimit(query)
  checkTime('`now`', query.now)
  const scope = new CursorScope(['due'], [0, 0])
  const [due, no] = scope.decode(query.cursor)
  const rows = db.all<StoredWait & { due: number }>(
    `${SELECT.replace(' FROM', ', waits.due FROM')} WHERE waits.state = 'pending' AND waits.due IS NOT NULL
       AND waits.due <= ? AND (waits.due, waits.no) > (?, ?) AND streams.deleted = 0
     ORDER BY waits.due, waits.no LIMIT ?`,
    query.now,
    due,
    no,
    limit + 1,
  )
  return pageOf(
    rows,
    limit,
    (row) => waitOf(db, row),
    (last) => scope.encode([last.due, last.no]),
  )
}

/** The number of waits in memory at a time while they are erased. */
const ERASE_CHUNK = 500

/** Erases the content of the waits opened in the range; those still pending are cancelled. */
export function eraseWaits(
  db: Connection,
  streamNo: number,
  range: { from: number; to: number },
  reason: WaitCancelReason,
  now: number,
): void {
  let last = 0
  for (;;) {
    const rows = db.all<Omit<StoredWait, 'stream'>>(
      `SELECT no, id, state, wait, settled FROM waits
       WHERE stream_no = ? AND opened_at BETWEEN ? AND ? AND no > ? ORDER BY no LIMIT ?`,
      streamNo,
      range.from,
      range.to,
      last,
      ERASE_CHUNK,
    )
    for (const row of rows) eraseWait(db, row, reason, now)
    if (rows.length < ERASE_CHUNK) return
    last = rows.at(-1)?.no ?? last
  }
}

function eraseWait(db: Connection, row: Omit<StoredWait, 'stream'>, reason: WaitCancelReason, now: number): void {
  const wait = tryParse(row.wait) as Wait | undefined
  const isPending = row.state === 'pending'
  db.run(
    'UPDATE waits SET wait = ?, state = ?, settled = ? WHERE no = ?',
    wait === undefined ? '' : JSON.stringify(erasedWait(wait)),
    isPending ? 'cancelled' : row.state,
    isPending ? JSON.stringify({ settledAt: now, reason }) : row.settled,
    row.no,
  )
}

function waitOf(db: Connection, row: StoredWait): WaitRow {
  const what = `Wait ${row.id} of ${row.stream}`
  const details = { stream: row.stream, wait: row.id }
  return {
    stream: row.stream,
    wait: wholeRow(db, parseOrDamaged(row.wait, what, details) as Wait),
    state: row.state,
    ...(row.settled === null ? {} : (parseOrDamaged(row.settled, what, details) as Partial<WaitRow>)),
  }
}
