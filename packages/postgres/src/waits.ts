import type { Wait, WaitCancelReason, WaitState } from '@inspan/protocol'
import type { Page, PageRequest, Store, WaitRow } from '@inspan/protocol/store'
import {
  checkId,
  checkTime,
  CursorScope,
  erasedWait,
  pageLimit,
  pageOf,
  parseOrDamaged,
  tryParse,
  type Range,
} from '@inspan/core/stores'
import type { Session } from './connection.ts'

interface StoredWait {
  no: number
  stream: string
  id: string
  state: WaitState
  due: number | null
  wait: string
  settled: string | null
}

type WaitQuery = Parameters<Store['listWaits']>[0]

const SELECT = `SELECT waits.no, streams.id AS stream, waits.id, waits.state, waits.due, waits.wait, waits.settled
  FROM inspan.waits JOIN inspan.streams ON streams.no = waits.stream_no`

export async function getWait(db: Session, stream: string, waitId: string): Promise<WaitRow | null> {
  checkId('A wait id', waitId)
  const [row] = await db.all<StoredWait>(`${SELECT} WHERE streams.id = $1 AND waits.id = $2`, stream, waitId)
  return row === undefined ? null : waitOf(row)
}

export async function listWaits(db: Session, query: WaitQuery): Promise<Page<WaitRow>> {
  const limit = pageLimit(query)
  const { root, stream, state } = query
  const scope = new CursorScope(['waits', stream ?? null, root ?? null, state ?? null], [0])
  const [after] = scope.decode(query.cursor)
  const values: string[] = []
  const place = (value: string): string => `$${values.push(value) + 2}`
  const filters = ['streams.deleted = 0', 'waits.no > $1']
  if (stream !== undefined) {
    filters.push(`waits.stream_no = (SELECT no FROM inspan.streams WHERE id = ${place(stream)})`)
  }
  if (root !== undefined) filters.push(`waits.stream_no IN (${threadsBelow(place(root))})`)
  if (state !== undefined) filters.push(`waits.state = ${place(state)}`)
  const rows = await db.all<StoredWait>(
    `${SELECT} WHERE ${filters.join(' AND ')} ORDER BY waits.no LIMIT $2`,
    after,
    limit + 1,
    ...values,
  )
  return pageOf(rows, limit, waitOf, (last) => scope.encode([last.no]))
}

function threadsBelow(root: string): string {
  return `SELECT stream_no FROM inspan.threads WHERE root = ${root}
    UNION SELECT no FROM inspan.streams WHERE id = ${root}`
}

export async function listDue(db: Session, query: PageRequest & { readonly now: number }): Promise<Page<WaitRow>> {
  const limit = pageLimit(query)
  checkTime('`now`', query.now)
  const scope = new CursorScope(['due'], [0, 0])
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
  return pageOf(rows, limit, waitOf, (last) => scope.encode([last.due ?? 0, last.no]))
}

/** The number of waits in memory at a time while they are erased. */
const ERASE_CHUNK = 500

/** Erases the content of the waits opened in the range; those still pending are cancelled. */
export async function eraseWaits(
  db: Session,
  streamNo: number,
  range: Range,
  reason: WaitCancelReason,
  now: number,
): Promise<void> {
  let last = 0
  for (;;) {
    const rows = await db.all<Omit<StoredWait, 'stream'>>(
      `SELECT no, id, state, due, wait, settled FROM inspan.waits
       WHERE stream_no = $1 AND opened_at BETWEEN $2 AND $3 AND no > $4 ORDER BY no LIMIT $5`,
      streamNo,
      range.from,
      range.to,
      last,
      ERASE_CHUNK,
    )
    for (const row of rows) await eraseWait(db, row, reason, now)
    if (rows.length < ERASE_CHUNK) return
    last = rows.at(-1)?.no ?? last
  }
}

async function eraseWait(
  db: Session,
  row: Omit<StoredWait, 'stream'>,
  reason: WaitCancelReason,
  now: number,
): Promise<void> {
  const wait = tryParse(row.wait) as Wait | undefined
  const isPending = row.state === 'pending'
  await db.run(
    'UPDATE inspan.waits SET wait = $1, state = $2, settled = $3 WHERE no = $4',
    wait === undefined ? '' : JSON.stringify(erasedWait(wait)),
    isPending ? 'cancelled' : row.state,
    isPending ? JSON.stringify({ settledAt: now, reason }) : row.settled,
    row.no,
  )
}

function waitOf(row: StoredWait): WaitRow {
  const what = `Wait ${row.id} of ${row.stream}`
  const details = { stream: row.stream, wait: row.id }
  return {
    stream: row.stream,
    wait: parseOrDamaged(row.wait, what, details) as Wait,
    state: row.state,
    ...(row.settled === null ? {} : (parseOrDamaged(row.settled, what, details) as Partial<WaitRow>)),
  }
}
