import type { ForkReach, NewStream, Page, PageRequest, Store, ThreadInfo } from '@inspan/protocol/store'
import {
  CursorScope,
  forksScope,
  listedThread,
  newThreadRow,
  pageLimit,
  pageOf,
  THREAD_COLUMNS,
  threadFromRow,
  threadsScope,
  type ForksQuery,
  type ThreadRow,
} from '@inspan/stores/shared'
import type { SqlSession } from './connection.ts'

type ListThreadsQuery = Parameters<Store['listThreads']>[0]

export async function insertThread(db: SqlSession, streamNo: number, stream: NewStream): Promise<void> {
  const row = newThreadRow(stream)
  if (row === undefined) return
  await db.run(
    `INSERT INTO harness.threads (stream_no, ${THREAD_COLUMNS}, root) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
    streamNo,
    row.id,
    row.resource_id,
    row.hidden,
    row.created_at,
    row.updated_at,
    row.links,
    row.title,
    row.metadata,
    stream.info.root ?? null,
  )
}

export async function getThread(db: SqlSession, id: string): Promise<ThreadInfo | null> {
  const [row] = await db.all<ThreadRow>(
    `SELECT ${THREAD_COLUMNS} FROM harness.threads
     WHERE stream_no = (SELECT no FROM harness.streams WHERE id = $1 AND deleted = 0)`,
    id,
  )
  return row === undefined ? null : threadFromRow(row)
}

export async function listThreads(db: SqlSession, query: ListThreadsQuery): Promise<Page<ThreadInfo>> {
  const limit = pageLimit(query)
  const { resourceId, root } = query
  const scope = threadsScope(query)
  const [updatedAt, id] = scope.decode(query.cursor)
  const rows = await db.all<ThreadRow>(
    listSql(query),
    updatedAt,
    id,
    limit + 1,
    ...(resourceId === undefined ? [] : [resourceId]),
    ...(root === undefined ? [] : [root]),
  )
  return pageOf(rows, limit, listedThread, (last) => scope.encode([last.updated_at, last.id]))
}

/** Each part is read in the order of one index and stops after a page, however many threads there are. */
function listSql(query: ListThreadsQuery): string {
  const filters = [
    ...(query.resourceId === undefined ? [] : ['resource_id = $4']),
    ...(query.root === undefined ? [] : [`root = $${query.resourceId === undefined ? 4 : 5}`]),
  ]
  const page = (extra: readonly string[]): string =>
    `SELECT ${THREAD_COLUMNS} FROM harness.threads
     WHERE ${[...filters, ...extra, 'updated_at <= $1 AND (updated_at < $1 OR id > $2)'].join(' AND ')}
     ORDER BY updated_at DESC, id LIMIT $3`
  if (query.root !== undefined) return page([])
  if (query.includeHidden !== true) return page(['NOT hidden'])
  return `(${page(['NOT hidden'])}) UNION ALL (${page(['hidden'])}) ORDER BY updated_at DESC, id LIMIT $3`
}

/** Jumps from one id to the next in the index instead of reading all threads of each resource. */
export async function listResourceIds(db: SqlSession, query: PageRequest): Promise<Page<string>> {
  const limit = pageLimit(query)
  const scope = new CursorScope(['resources'], [''])
  const [after] = scope.decode(query.cursor)
  const rows = await db.all<{ id: string }>(
    `WITH RECURSIVE ids (id) AS (
       SELECT (SELECT resource_id FROM harness.threads WHERE resource_id > $1 ORDER BY resource_id LIMIT 1)
       UNION ALL
       SELECT (SELECT resource_id FROM harness.threads WHERE resource_id > ids.id ORDER BY resource_id LIMIT 1)
       FROM ids WHERE ids.id IS NOT NULL
     )
     SELECT id FROM ids WHERE id IS NOT NULL LIMIT $2`,
    after,
    limit + 1,
  )
  return pageOf(
    rows,
    limit,
    (row) => row.id,
    (last) => scope.encode([last.id]),
  )
}

/** Returns the threads that need something of the range, each with the last seq it needs. */
export async function listForks(db: SqlSession, query: ForksQuery): Promise<Page<ForkReach>> {
  const limit = pageLimit(query)
  const scope = forksScope(query)
  const [after] = scope.decode(query.cursor)
  const rows = await db.all<ForkReach>(
    `SELECT streams.id AS thread, max(least(to_seq, $3)) AS "to"
     FROM harness.needs JOIN harness.streams ON streams.no = needs.by_no
     WHERE needs.stream_no = (SELECT no FROM harness.streams WHERE id = $1) AND to_seq >= $2 AND from_seq <= $3
       AND streams.id > $4 GROUP BY streams.id ORDER BY streams.id LIMIT $5`,
    query.stream,
    query.from,
    query.to,
    after,
    limit + 1,
  )
  return pageOf(
    rows,
    limit,
    ({ thread, to }) => ({ thread, to }),
    (last) => scope.encode([last.thread]),
  )
}
