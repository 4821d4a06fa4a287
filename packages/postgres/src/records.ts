import { rootLineage, type Lineage, type LogRecord, type RecordType, type StoredHead } from '@inspan/protocol/log'
import { storedTypes, type Page, type RecordFormat, type RecordQuery } from '@inspan/protocol/store'
import {
  checkId,
  checkSeq,
  isRare,
  noSuchStream,
  pageOf,
  planRecords,
  recordFromRow,
  stretchesOf,
  tryParse,
  type RecordRow,
  type Stretch,
} from '@inspan/stores/shared'
import type { SqlSession } from './connection.ts'
import { IS_RARE_SQL } from './schema/tables.ts'

const COLUMNS = 'seq, first, type, v, at, extra, body'

export function readRecords(
  db: SqlSession,
  format: RecordFormat,
  stream: string,
  query: RecordQuery,
): Promise<Page<LogRecord>> {
  return readLineage(db, format, rootLineage(stream), query)
}

export async function readLineage(
  db: SqlSession,
  format: RecordFormat,
  lineage: Lineage,
  query: RecordQuery,
): Promise<Page<LogRecord>> {
  const plan = planRecords(lineage, query)
  const rows: (RecordRow & { stream: string })[] = []
  const sql = inStretch(
    `SELECT ${COLUMNS} FROM harness.records WHERE stream_no = s.no AND seq BETWEEN $2 AND $3 ORDER BY seq LIMIT $4`,
  )
  for (const stretch of plan.stretches) {
    const found = await readStretch<RecordRow>(db, sql, stretch, plan.limit + 1 - rows.length)
    for (const row of found) rows.push({ ...row, stream: stretch.stream })
    if (rows.length > plan.limit) break
  }
  return pageOf(
    rows,
    plan.limit,
    (row) => recordFromRow(row.stream, row, format),
    (last) => plan.cursorAfter(last.seq),
  )
}

/** Rows of one stream in one round trip, together with whether there is such a stream. */
export function inStretch(rows: string, order = 'ASC'): string {
  return `SELECT s.deleted, r.* FROM harness.streams s LEFT JOIN LATERAL (${rows}) r ON true
    WHERE s.id = $1 ORDER BY r.seq ${order}`
}

/**
 * A deleted stream can still be read where a fork's lineage names a closed part of it. Its open end belongs to nobody
 * any more.
 */
export async function readStretch<Row>(
  db: SqlSession,
  sql: string,
  stretch: Stretch,
  ...values: readonly unknown[]
): Promise<Row[]> {
  const { stream, from, to, isOpen } = stretch
  const rows = await db.all<Row & { deleted: number; seq: number | null }>(sql, stream, from, to, ...values)
  const [first] = rows
  if (first === undefined || (first.deleted !== 0 && isOpen)) throw noSuchStream(stream)
  return first.seq === null ? [] : rows
}

export async function latestRecord(
  db: SqlSession,
  format: RecordFormat,
  lineage: Lineage,
  type: RecordType,
  upTo: number,
): Promise<LogRecord | null> {
  checkSeq('`upTo`', upTo, 0)
  for (const stretch of stretchesOf(lineage, 1, upTo).reverse()) {
    let latest: RecordRow | undefined
    for (const stored of storedTypes(type, format)) {
      const [row] = await readStretch<RecordRow>(db, latestSql(stored), stretch, stored)
      if (row !== undefined && row.seq > (latest?.seq ?? 0)) latest = row
    }
    if (latest !== undefined) return recordFromRow(stretch.stream, latest, format)
  }
  return null
}

function latestSql(type: string): string {
  const isPart = type === 'batch' ? 'part IS NOT NULL' : 'part IS NULL'
  return inStretch(`SELECT ${COLUMNS} FROM harness.records
    WHERE stream_no = s.no AND type = $4 AND ${isPart}${isRare(type) ? ` AND ${IS_RARE_SQL}` : ''}
      AND seq BETWEEN $2 AND $3 ORDER BY seq DESC LIMIT 1`)
}

export async function hasNamedRun(db: SqlSession, lineage: Lineage, runId: string): Promise<boolean> {
  checkId('A run id', runId)
  const sql = inStretch(
    'SELECT seq FROM harness.named_runs WHERE stream_no = s.no AND run_id = $4 AND seq BETWEEN $2 AND $3 LIMIT 1',
  )
  for (const stretch of stretchesOf(lineage)) {
    if ((await readStretch(db, sql, stretch, runId)).length > 0) return true
  }
  return false
}

/** A head is a cache: a damaged one counts as none and will be rebuilt. */
export async function readHead(db: SqlSession, stream: string, reducerVersion: number): Promise<StoredHead | null> {
  const [row] = await db.all<{ json: string }>(
    `SELECT json FROM harness.heads JOIN harness.streams ON streams.no = heads.stream_no
     WHERE streams.id = $1 AND deleted = 0 AND version = $2`,
    stream,
    reducerVersion,
  )
  return (tryParse(row?.json) as StoredHead | undefined) ?? null
}

export async function dropHeads(db: SqlSession, streamNo: number): Promise<void> {
  await db.run('DELETE FROM harness.heads WHERE stream_no = $1', streamNo)
}
