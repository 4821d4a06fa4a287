import type { WaitCancelReason } from '@inspan/protocol'
import type { Page, WaitRow } from '@inspan/protocol/store'
import {
  checkId,
  dueScope,
  erasedRow,
  pageLimit,
  pageOf,
  waitFromRow,
  waitsScope,
  type DueQuery,
  type Range,
  type StoredWait,
  type WaitQuery,
} from '@inspan/stores/shared'
import type { SqlSession } from './connection.ts'

const SELECT = `SELECT waits.no, streams.id AS stream, waits.id, waits.state, waits.due, waits.wait, waits.settled
  FROM harness.waits JOIN harness.streams ON streams.no = waits.stream_no`

export async function getWait(db: SqlSession, stream: string, waitId: string): Promise<WaitRow | null> {
  checkId('A wait id', waitId)
  const [row] = await db.all<StoredWait>(`${SELECT} WHERE streams.id = $1 AND waits.id = $2`, stream, waitId)
  return row === undefined ? null : waitFromRow(row)
}

export async function listWaits(db: SqlSession, query: WaitQuery): Promise<Page<WaitRow>> {
  const limit = pageLimit(query)
  const { root, stream, state } = query
  const scope = waitsScope(query)
  const [after] = scope.decode(query.cursor)
  const values: string[] = []
  const place = (value: string): string => `$${values.push(value) + 2}`
  const filters = ['streams.deleted = 0', 'waits.no > $1']
  if (stream !== undefined) {
    filters.push(`waits.stream_no = (SELECT no FROM harness.streams WHERE id = ${place(stream)})`)
  }
  if (root !== undefined) filters.push(`waits.stream_no IN (${threadsBelow(place(root))})`)
  if (state !== undefined) filters.push(`waits.state = ${place(state)}`)
  const rows = await db.all<StoredWait>(
    `${SELECT} WHERE ${filters.join(' AND ')} ORDER BY waits.no LIMIT $2`,
    after,
    limit + 1,
    ...values,
  )
  return pageOf(
    rows,
    limit,
    (row) => waitFromRow(row),
    (last) => scope.encode([last.no]),
  )
}

function threadsBelow(root: string): string {
  return `SELECT stream_no FROM harness.threads WHERE root = ${root}
    UNION SELECT no FROM harness.streams WHERE id = ${root}`
}

export async function listDue(db: SqlSession, query: DueQuery): Promise<Page<WaitRow>> {
  const limit = pageLimit(query)
  const scope = dueScope(query)
  const [due, no] = scope.decode(query.cursor)
  const rows = await db.all<StoredWait>(
    `${SELECT} WHERE waits.state = 'pending' AND waits.due IS NOT NULL AND waits.due <= $1
       AND (waits.due, waits.no) > ($2, $3) AND streams.deleted = 0
     ORDER BY waits.due, waits.no LIMIT $4`,
    query.now,
    due,
    no,
    limit + 1,
  )
  return pageOf(
    rows,
    limit,
    (row) => waitFromRow(row),
    (last) => scope.encode([last.due ?? 0, last.no]),
  )
}

/** The number of waits in memory at a time while they are erased. */
const ERASE_CHUNK = 500

/** Erases the content of the waits opened in the range; those still pending are cancelled. */
export async function eraseWaits(
  db: SqlSession,
  streamNo: number,
  range: Range,
  reason: WaitCancelReason,
  now: number,
): Promise<void> {
  let last = 0
  for (;;) {
    const rows = await db.all<Omit<StoredWait, 'stream'>>(
      `SELECT no, id, state, due, wait, settled FROM harness.waits
       WHERE stream_no = $1 AND opened_at BETWEEN $2 AND $3 AND no > $4 ORDER BY no LIMIT $5`,
      streamNo,
      range.from,
      range.to,
      last,
      ERASE_CHUNK,
    )
    for (const row of rows) {
      const { settled, state, wait } = erasedRow(row, reason, now)
      const sql = 'UPDATE harness.waits SET wait = $1, state = $2, settled = $3 WHERE no = $4'
      await db.run(sql, wait, state, settled, row.no)
    }
    if (rows.length < ERASE_CHUNK) return
    last = rows.at(-1)?.no ?? last
  }
}
