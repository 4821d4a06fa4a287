import type { Lineage, LogRecord, RecordType } from '@inspan/protocol/log'
import { storedTypes, type Page, type RecordQuery } from '@inspan/protocol/store'
import { checkId, checkSeq } from '../shared/input-checks.ts'
import { pageOf } from '../shared/paging.ts'
import { planRecords, type ReadPlan } from '../shared/read-plans.ts'
import { recordFromRow, type RecordRow } from '../shared/record-row.ts'
import { stretchesOf, type Stretch } from '../shared/stretches.ts'
import { noSuchStream } from '../shared/store-errors.ts'
import { wholeRow } from './blobs.ts'
import type { SqliteConnection } from './connection.ts'
import { IN_RANGE_SQL, limitSql, SEQ_SQL } from './keys.ts'
import { isRare } from '../shared/common-types.ts'
import { IS_RARE_SQL } from './migrations.ts'
import { findStream } from './streams.ts'

const COLUMNS = `${SEQ_SQL} AS seq, first, type, v, at, extra, body`

export function readLineage(db: SqliteConnection, lineage: Lineage, query: RecordQuery): Page<LogRecord> {
  const plan = planRecords(lineage, query)
  const rows = readPlan<RecordRow>(db, plan, `SELECT ${COLUMNS} FROM records`)
  return pageOf(
    rows,
    plan.limit,
    (row) => recordFromRow(row.stream, row, db.format, (body) => wholeRow(db, body)),
    (last) => plan.cursorAfter(last.seq),
  )
}

/** Reads the stretches of a plan until there is one row more than a page holds. */
export function readPlan<Row extends object>(
  db: SqliteConnection,
  { isDescending, limit, stretches }: ReadPlan,
  select: string,
): (Row & { readonly stream: string })[] {
  const rows: (Row & { readonly stream: string })[] = []
  const sql = `${select} WHERE ${IN_RANGE_SQL} ORDER BY key ${isDescending ? 'DESC' : 'ASC'} ${limitSql('?4')}`
  for (const stretch of stretches) {
    const { from, stream, to } = stretch
    const found = db.all<Row>(sql, streamNumber(db, stretch), from, to, limit + 1 - rows.length)
    for (const row of found) rows.push(Object.assign(row, { stream }))
    if (rows.length > limit) break
  }
  return rows
}

export function latestRecord(db: SqliteConnection, lineage: Lineage, type: RecordType, upTo: number): LogRecord | null {
  checkSeq('`upTo`', upTo, 0)
  for (const stretch of stretchesOf(lineage, 1, upTo).reverse()) {
    const no = streamNumber(db, stretch)
    const row = storedTypes(type, db.format)
      .map((stored) => db.get(latestRecordSql(stored), no, stretch.from, stretch.to, stored) as RecordRow | undefined)
      .reduce((a, b) => ((a?.seq ?? 0) < (b?.seq ?? 0) ? b : a))
    if (row !== undefined) return recordFromRow(stretch.stream, row, db.format, (body) => wholeRow(db, body))
  }
  return null
}

export function latestRecordSql(type: string): string {
  const isPart = type === 'batch' ? 'part IS NOT NULL' : 'part IS NULL'
  return `SELECT ${COLUMNS} FROM records
    WHERE type = ?4 AND ${isPart}${isRare(type) ? ` AND ${IS_RARE_SQL}` : ''} AND ${IN_RANGE_SQL}
    ORDER BY key DESC LIMIT 1`
}

export function hasNamedRun(db: SqliteConnection, lineage: Lineage, runId: string): boolean {
  checkId('A run id', runId)
  return stretchesOf(lineage).some((stretch) => {
    const no = streamNumber(db, stretch)
    return db.get(NAMED_RUN_SQL, no, runId, stretch.from, stretch.to) !== undefined
  })
}

const NAMED_RUN_SQL = 'SELECT seq FROM named_runs WHERE stream_no = ? AND run_id = ? AND seq BETWEEN ? AND ? LIMIT 1'

/**
 * Returns the number of a stretch's stream. A deleted stream can still be read where a fork's lineage names a closed
 * part of it; its open end belongs to nobody any more.
 */
export function streamNumber(db: SqliteConnection, stretch: Stretch): number {
  const row = findStream(db, stretch.stream)
  if (row === undefined || (row.deleted !== 0 && stretch.isOpen)) throw noSuchStream(stretch.stream)
  return row.no
}
