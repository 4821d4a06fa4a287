import type { JsonObject } from '@inspan/protocol'
import type { NewStream, Store, ThreadInfo } from '@inspan/protocol/store'
import { CursorScope } from './cursor.ts'
import { checkId, checkTime, toJsonText } from './input-checks.ts'
import { parseOrDamaged, tryParse } from './record-row.ts'

/** A thread as it is stored. */
export interface ThreadRow {
  readonly id: string
  readonly resource_id: string
  readonly hidden: number | boolean
  readonly created_at: number
  readonly updated_at: number
  readonly links: string | null
  readonly title: string
  readonly metadata: string
}

type Links = Pick<ThreadInfo, 'root' | 'parent' | 'parentCall' | 'forkedFrom'>

export const THREAD_COLUMNS = 'id, resource_id, hidden, created_at, updated_at, links, title, metadata'

/** Returns the row of a new thread, or `undefined` for a session's own stream: it is no thread and is not listed. */
export function newThreadRow({ info, kind }: NewStream): (ThreadRow & { readonly hidden: boolean }) | undefined {
  checkId('A resource id', info.resourceId)
  checkTime('`createdAt`', info.createdAt)
  checkTime('`updatedAt`', info.updatedAt)
  if (kind !== 'thread') return undefined
  const { root, parent, parentCall, forkedFrom } = info
  const links = toJsonText('The links of a thread', { root, parent, parentCall, forkedFrom })
  return {
    id: info.id,
    resource_id: info.resourceId,
    hidden: info.hidden,
    created_at: info.createdAt,
    updated_at: info.updatedAt,
    links: links === '{}' ? null : links,
    title: toJsonText('A title', info.title),
    metadata: toJsonText('The metadata of a thread', info.metadata),
  }
}

export function threadFromRow(row: ThreadRow): ThreadInfo {
  const { id } = row
  const details = { stream: id }
  return threadOf(row, {
    title: parseOrDamaged(row.title, `The title of ${id}`, details) as string | null,
    links: row.links === null ? {} : (parseOrDamaged(row.links, `The origin of ${id}`, details) as Links),
    metadata: parseOrDamaged(row.metadata, `The metadata of ${id}`, details) as JsonObject,
  })
}

/** A damaged row must not hide the others: it is listed and marked as damaged. */
export function listedThread(row: ThreadRow): ThreadInfo {
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

/** Which threads to list. */
export type ThreadQuery = Parameters<Store['listThreads']>[0]

/** The cursor of a list of threads: the time of the last change, then the id. */
export function threadsScope(query: ThreadQuery): CursorScope<[number, string]> {
  const { includeHidden = false, resourceId, root } = query
  return new CursorScope(['threads', resourceId ?? null, includeHidden, root ?? null], [Number.MAX_VALUE, ''])
}

function threadOf(row: ThreadRow, parsed: { title: string | null; links: Links; metadata: JsonObject }): ThreadInfo {
  return {
    id: row.id,
    resourceId: row.resource_id,
    title: parsed.title,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    hidden: Boolean(row.hidden),
    ...parsed.links,
    metadata: parsed.metadata,
  }
}
