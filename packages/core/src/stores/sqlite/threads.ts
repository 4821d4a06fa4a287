import type { JsonObject } from '@inspan/protocol'
import type { Append, NewStream, Page, PageRequest, ThreadInfo } from '@inspan/protocol/store'
import { CursorScope } from '../cursor.ts'
import { checkId, checkTime, pageLimit, toJsonText } from '../input-checks.ts'
import { pageOf } from '../paging.ts'
import { parseOrDamaged, tryParse } from '../record-row.ts'
import type { Connection } from './connection.ts'
import { limitSql } from './keys.ts'

interface ThreadRow {
  id: string
  resource_id: string
  hidden: number
  created_at: number
  updated_at: number
  links: string | null
  title: string
  metadata: string
}

type Links = Pick<ThreadInfo, 'root' | 'parent' | 'parentCall' | 'forkedFrom'>

const COLUMNS = 'id, resource_id, hidden, created_at, updated_at, links, title, metadata'

export function insertThread(db: Connection, no: number, stream: NewStream): void {
  const { info } = stream
  checkId('A resource id', info.resourceId)
  checkTime('`createdAt`', info.createdAt)
  checkTime('`updatedAt`', info.updatedAt)
  // A session's own stream is no thread, so it is not listed here.
  if (stream.kind !== 'thread') return
  const { root, parent, parentCall, forkedFrom } = info
  const links = toJsonText('The links of a thread', { root, parent, parentCall, forkedFrom })
  db.run(
    `INSERT INTO threads (no, ${COLUMNS}, root) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    no,
    info.id,
    info.resourceId,
    Number(info.hidden),
    info.createdAt,
    info.updatedAt,
    links === '{}' ? null : links,
    toJsonText('A title', info.title),
    toJsonText('The metadata of a thread', info.metadata),
    root ?? null,
  )
}

/** `updatedAt` never goes back, whatever the clock does: a thread just used stays at the top. */
export function updateThread(db: Connection, no: number, change: NonNullable<Append['thread']>): void {
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

export function getThread(db: Connection, id: string): ThreadInfo | null {
  const row = db.get(
    `SELECT ${COLUMNS} FROM threads WHERE no = (SELECT no FROM streams WHERE id = ? AND deleted = 0)`,
    id,
  ) as ThreadRow | undefined
  if (row === undefined) return null
  const details = { stream: id }
  return threadOf(row, {
    title: parseOrDamaged(row.title, `The title of ${id}`, details) as string | null,
    links: row.links === null ? {} : (parseOrDamaged(row.links, `The origin of ${id}`, details) as Links),
    metadata: parseOrDamaged(row.metadata, `The metadata of ${id}`, details) as JsonObject,
  })
}

export interface ThreadQuery extends PageRequest {
  readonly resourceId?: string
  readonly includeHidden?: boolean
  readonly root?: string
}

export function listThreads(db: Connection, query: ThreadQuery): Page<ThreadInfo> {
  const limit = pageLimit(query)
  const { resourceId, includeHidden = false, root } = query
  const scope = new CursorScope(['threads', resourceId ?? null, includeHidden, root ?? null], [Number.MAX_VALUE, ''])
  const [updatedAt, id] = scope.decode(query.cursor)
  const rows = db.all<ThreadRow>(
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
export function listSql(query: ThreadQuery): string {
  const filters = [
    ...(query.resourceId === undefined ? [] : ['resource_id = ?4']),
    ...(query.root === undefined ? [] : [`root = ?${query.resourceId === undefined ? 4 : 5}`]),
  ]
  const page = (extra: readonly string[]): string =>
    `SELECT ${COLUMNS} FROM threads
     WHERE ${[...filters, ...extra, 'updated_at <= ?1 AND (updated_at < ?1 OR id > ?2)'].join(' AND ')}
     ORDER BY updated_at DESC, id ${limitSql('?3')}`
  if (query.root !== undefined) return page([])
  if (query.includeHidden !== true) return page(['hidden = 0'])
  return `SELECT * FROM (${page(['hidden = 0'])}) UNION ALL SELECT * FROM (${page(['hidden = 1'])})
          ORDER BY updated_at DESC, id ${limitSql('?3')}`
}

/** Jumps from one id to the next in the index instead of reading all threads of each resource. */
export function listResourceIds(db: Connection, query: PageRequest): Page<string> {
  const limit = pageLimit(query)
  const scope = new CursorScope(['resources'], [''])
  const [after] = scope.decode(query.cursor)
  const rows = db.all<{ id: string }>(
    `WITH RECURSIVE ids (id) AS (
       SELECT (SELECT resource_id FROM threads WHERE resource_id > ?1 ORDER BY resource_id LIMIT 1)
       UNION ALL
       SELECT (SELECT resource_id FROM threads WHERE resource_id > ids.id ORDER BY resource_id LIMIT 1)
       FROM ids WHERE ids.id IS NOT NULL
     )
     SELECT id FROM ids WHERE id IS NOT NULL LIMIT ?2`,
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
    hidden: row.hidden !== 0,
    ...parsed.links,
    metadata: parsed.metadata,
  }
}
