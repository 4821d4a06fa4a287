import type { Append, NewStream, Page, PageRequest, ThreadInfo } from '@inspan/protocol/store'
import { CursorScope } from '../shared/cursor.ts'
import { checkId, checkTime, toJsonText } from '../shared/input-checks.ts'
import {
  listedThread,
  newThreadRow,
  THREAD_COLUMNS,
  threadFromRow,
  threadsScope,
  type ThreadQuery,
  type ThreadRow,
} from '../shared/thread-row.ts'
import type { SqliteConnection } from './connection.ts'
import { limitSql } from './keys.ts'

export function insertThread(db: SqliteConnection, no: number, stream: NewStream): void {
  const row = newThreadRow(stream)
  if (row === undefined) return
  db.run(
    `INSERT INTO threads (no, ${THREAD_COLUMNS}, root) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    no,
    row.id,
    row.resource_id,
    Number(row.hidden),
    row.created_at,
    row.updated_at,
    row.links,
    row.title,
    row.metadata,
    stream.info.root ?? null,
  )
}

/** `updatedAt` never goes back, whatever the clock does: a thread just used stays at the top. */
export function updateThread(db: SqliteConnection, no: number, change: NonNullable<Append['thread']>): void {
  if (change.resourceId !== undefined) checkId('A resource id', change.resourceId)
  if (change.updatedAt !== undefined) checkTime('`updatedAt`', change.updatedAt)
  db.run(
    `UPDATE threads SET title = coalesce(?2, title), updated_at = max(updated_at, coalesce(?3, updated_at)),
       metadata = coalesce(?4, metadata), hidden = coalesce(?5, hidden), resource_id = coalesce(?6, resource_id)
     WHERE no = ?1`,
    no,
    change.title === undefined ? null : toJsonText('A title', change.title),
    change.updatedAt ?? null,
    change.metadata === undefined ? null : toJsonText('The metadata of a thread', change.metadata),
    change.hidden === undefined ? null : Number(change.hidden),
    change.resourceId ?? null,
  )
}

export function getThread(db: SqliteConnection, id: string): ThreadInfo | null {
  const row = db.get(
    `SELECT ${THREAD_COLUMNS} FROM threads WHERE no = (SELECT no FROM streams WHERE id = ? AND deleted = 0)`,
    id,
  ) as ThreadRow | undefined
  return row === undefined ? null : threadFromRow(row)
}

export function listThreads(db: SqliteConnection, query: ThreadQuery): Page<ThreadInfo> {
  const filters = [query.resourceId, query.root].filter((value) => value !== undefined)
  return threadsScope(query).page(
    query,
    (position, count) => db.all<ThreadRow>(listSql(query), ...position, count, ...filters),
    listedThread,
    (last) => [last.updated_at, last.id],
  )
}

/** Each part is read in the order of one index and stops after a page, however many threads there are. */
export function listSql(query: ThreadQuery): string {
  const filters = [
    ...(query.resourceId === undefined ? [] : ['resource_id = ?4']),
    ...(query.root === undefined ? [] : [`root = ?${query.resourceId === undefined ? 4 : 5}`]),
  ]
  const page = (extra: readonly string[]): string =>
    `SELECT ${THREAD_COLUMNS} FROM threads
     WHERE ${[...filters, ...extra, 'updated_at <= ?1 AND (updated_at < ?1 OR id > ?2)'].join(' AND ')}
     ORDER BY updated_at DESC, id ${limitSql('?3')}`
  if (query.root !== undefined) return page([])
  if (query.includeHidden !== true) return page(['hidden = 0'])
  return `SELECT * FROM (${page(['hidden = 0'])}) UNION ALL SELECT * FROM (${page(['hidden = 1'])})
          ORDER BY updated_at DESC, id ${limitSql('?3')}`
}

/** Jumps from one id to the next in the index instead of reading all threads of each resource. */
export function listResourceIds(db: SqliteConnection, query: PageRequest): Page<string> {
  const sql = `WITH RECURSIVE ids (id) AS (
      SELECT (SELECT resource_id FROM threads WHERE resource_id > ?1 ORDER BY resource_id LIMIT 1)
      UNION ALL
      SELECT (SELECT resource_id FROM threads WHERE resource_id > ids.id ORDER BY resource_id LIMIT 1)
      FROM ids WHERE ids.id IS NOT NULL
    )
    SELECT id FROM ids WHERE id IS NOT NULL LIMIT ?2`
  return new CursorScope(['resources'], ['']).page(
    query,
    ([after], count) => db.all<{ id: string }>(sql, after, count),
    ({ id }) => id,
    (last) => [last.id],
  )
}
