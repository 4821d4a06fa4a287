import type { JsonObject } from '@inspan/protocol'
import type { ForkReach, NewStream, Page, PageRequest, Store, ThreadInfo } from '@inspan/protocol/store'
import {
  checkId,
  checkTime,
  CursorScope,
  forksScope,
  pageLimit,
  pageOf,
  parseOrDamaged,
  toJsonText,
  tryParse,
  type ForksQuery,
} from '@inspan/core/stores'
import type { Session } from './connection.ts'

interface ThreadRow {
  id: string
  resource_id: string
  hidden: boolean
  created_at: number
  updated_at: number
  links: string | null
  title: string
  metadata: string
}

type Links = Pick<ThreadInfo, 'root' | 'parent' | 'parentCall' | 'forkedFrom'>
type ThreadQuery = Parameters<Store['listThreads']>[0]

const COLUMNS = 'id, resource_id, hidden, created_at, updated_at, links, title, metadata'

export async function insertThread(db: Session, streamNo: number, stream: NewStream): Promise<void> {
  const { info } = stream
  checkId('A resource id', info.resourceId)
  checkTime('`createdAt`', info.createdAt)
  checkTime('`updatedAt`', info.updatedAt)
  // A session's own stream is no thread, so it is not listed here.
  if (stream.kind !== 'thread') return
  const { root, parent, parentCall, forkedFrom } = info
  const links = toJsonText('The links of a thread', { root, parent, parentCall, forkedFrom })
  await db.run(
    `INSERT INTO inspan.threads (stream_no, ${COLUMNS}, root) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
    streamNo,
    info.id,
    info.resourceId,
    info.hidden,
    info.createdAt,
    info.updatedAt,
    links === '{}' ? null : links,
    toJsonText('A title', info.title),
    toJsonText('The metadata of a thread', info.metadata),
    root ?? null,
  )
}

export async function getThread(db: Session, id: string): Promise<ThreadInfo | null> {
  const [row] = await db.all<ThreadRow>(
    `SELECT ${COLUMNS} FROM inspan.threads
     WHERE stream_no = (SELECT no FROM inspan.streams WHERE id = $1 AND deleted = 0)`,
    id,
  )
  if (row === undefined) return null
  const details = { stream: id }
  return threadOf(row, {
    title: parseOrDamaged(row.title, `The title of ${id}`, details) as string | null,
    links: row.links === null ? {} : (parseOrDamaged(row.links, `The origin of ${id}`, details) as Links),
    metadata: parseOrDamaged(row.metadata, `The metadata of ${id}`, details) as JsonObject,
  })
}

export async function listThreads(db: Session, query: ThreadQuery): Promise<Page<ThreadInfo>> {
  const limit = pageLimit(query)
  const { resourceId, includeHidden = false, root } = query
  const scope = new CursorScope(['threads', resourceId ?? null, includeHidden, root ?? null], [Number.MAX_VALUE, ''])
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
function listSql(query: ThreadQuery): string {
  const filters = [
    ...(query.resourceId === undefined ? [] : ['resource_id = $4']),
    ...(query.root === undefined ? [] : [`root = $${query.resourceId === undefined ? 4 : 5}`]),
  ]
  const page = (extra: readonly string[]): string =>
    `SELECT ${COLUMNS} FROM inspan.threads
     WHERE ${[...filters, ...extra, 'updated_at <= $1 AND (updated_at < $1 OR id > $2)'].join(' AND ')}
     ORDER BY updated_at DESC, id LIMIT $3`
  if (query.root !== undefined) return page([])
  if (query.includeHidden !== true) return page(['NOT hidden'])
  return `(${page(['NOT hidden'])}) UNION ALL (${page(['hidden'])}) ORDER BY updated_at DESC, id LIMIT $3`
}

/** Jumps from one id to the next in the index instead of reading all threads of each resource. */
export async function listResourceIds(db: Session, query: PageRequest): Promise<Page<string>> {
  const limit = pageLimit(query)
  const scope = new CursorScope(['resources'], [''])
  const [after] = scope.decode(query.cursor)
  const rows = await db.all<{ id: string }>(
    `WITH RECURSIVE ids (id) AS (
       SELECT (SELECT resource_id FROM inspan.threads WHERE resource_id > $1 ORDER BY resource_id LIMIT 1)
       UNION ALL
       SELECT (SELECT resource_id FROM inspan.threads WHERE resource_id > ids.id ORDER BY resource_id LIMIT 1)
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
export async function listForks(db: Session, query: ForksQuery): Promise<Page<ForkReach>> {
  const limit = pageLimit(query)
  const scope = forksScope(query)
  const [after] = scope.decode(query.cursor)
  const rows = await db.all<ForkReach>(
    `SELECT streams.id AS thread, max(least(to_seq, $3)) AS "to"
     FROM inspan.needs JOIN inspan.streams ON streams.no = needs.by_no
     WHERE needs.stream_no = (SELECT no FROM inspan.streams WHERE id = $1) AND to_seq >= $2 AND from_seq <= $3
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

/** A damaged row must not hide the others: it is listed and marked as damaged. */
function listedThread(row: ThreadRow): ThreadInfo {
  const title = tryParse(row.title)
  const links = row.links === null ? {} : tryParse(row.links)
  const metadata = tryParse(row.metadata)
  const damaged = [
    ...(title === undefined ? ['title'] : []),
    ...(links === undefined ? ['origin'] : []),
    ...(metadata === undefined ? ['metadata'] : []),
  ]
  return {
    ...threadOf(row, {
      title: (title ?? null) as string | null,
      links: links ?? {},
      metadata: (metadata ?? {}) as JsonObject,
    }),
    ...(damaged.length === 0 ? {} : { damaged: `The ${damaged.join(' and the ')} cannot be read.` }),
  }
}

function threadOf(row: ThreadRow, parsed: { title: string | null; links: Links; metadata: JsonObject }): ThreadInfo {
  return {
    id: row.id,
    resourceId: row.resource_id,
    title: parsed.title,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    hidden: row.hidden,
    ...parsed.links,
    metadata: parsed.metadata,
  }
}
