import type { JsonObject } from '@inspan/protocol'
import type { Append, NewStream, Page, PageRequest, ThreadInfo } from '@inspan/protocol/store'
import { CursorScope } from '../cursor.ts'
import { checkId, checkTime, pageLimit, toJsonText } from '../input-checks.ts'
import { pageOf } from '../paging.ts'
import { firstSorted } from './first-sorted.ts'
import type { MemoryStream } from './memory-state.ts'

/**
 * A thread's own data. `links`, `title` and `metadata` are JSON texts, so that callers cannot change them from outside.
 */
export interface StoredThread {
  readonly id: string
  readonly resourceId: string
  readonly hidden: boolean
  readonly createdAt: number
  readonly updatedAt: number
  readonly root: string | undefined
  readonly links: string
  readonly title: string
  readonly metadata: string
}

export function newThread(stream: NewStream): StoredThread | null {
  const { info } = stream
  checkId('A resource id', info.resourceId)
  checkTime('`createdAt`', info.createdAt)
  checkTime('`updatedAt`', info.updatedAt)
  if (stream.kind !== 'thread') return null
  const { root, parent, parentCall, forkedFrom } = info
  return {
    id: info.id,
    resourceId: info.resourceId,
    hidden: info.hidden,
    createdAt: info.createdAt,
    updatedAt: info.updatedAt,
    root,
    links: toJsonText('The links of a thread', { root, parent, parentCall, forkedFrom }),
    title: toJsonText('A title', info.title),
    metadata: toJsonText('The metadata of a thread', info.metadata),
  }
}

/** `updatedAt` never goes back, whatever the clock does: a thread just used stays at the top. */
export function changedThread(thread: StoredThread, change: NonNullable<Append['thread']>): StoredThread {
  if (change.resourceId !== undefined) checkId('A resource id', change.resourceId)
  if (change.updatedAt !== undefined) checkTime('`updatedAt`', change.updatedAt)
  return {
    ...thread,
    resourceId: change.resourceId ?? thread.resourceId,
    hidden: change.hidden ?? thread.hidden,
    updatedAt: Math.max(thread.updatedAt, change.updatedAt ?? thread.updatedAt),
    title: change.title === undefined ? thread.title : toJsonText('A title', change.title),
    metadata: change.metadata === undefined ? thread.metadata : toJsonText('The metadata of a thread', change.metadata),
  }
}

export function threadInfo(thread: StoredThread): ThreadInfo {
  return {
    id: thread.id,
    resourceId: thread.resourceId,
    title: JSON.parse(thread.title) as string | null,
    createdAt: thread.createdAt,
    updatedAt: thread.updatedAt,
    hidden: thread.hidden,
    ...(JSON.parse(thread.links) as Partial<ThreadInfo>),
    metadata: JSON.parse(thread.metadata) as JsonObject,
  }
}

export interface ThreadQuery extends PageRequest {
  readonly resourceId?: string
  readonly includeHidden?: boolean
  readonly root?: string
}

export function listThreads(streams: Iterable<MemoryStream>, query: ThreadQuery): Page<ThreadInfo> {
  const limit = pageLimit(query)
  const { resourceId, includeHidden = false, root } = query
  const scope = new CursorScope(['threads', resourceId ?? null, includeHidden, root ?? null], [Number.MAX_VALUE, ''])
  const [updatedAt, id] = scope.decode(query.cursor)
  const isWanted = (thread: StoredThread): boolean =>
    (includeHidden || root !== undefined || !thread.hidden) &&
    (resourceId === undefined || thread.resourceId === resourceId) &&
    (root === undefined || thread.root === root) &&
    (thread.updatedAt < updatedAt || (thread.updatedAt === updatedAt && thread.id > id))
  const rows = firstSorted(
    livingThreads(streams, isWanted),
    limit + 1,
    (a, b) => b.updatedAt - a.updatedAt || (a.id < b.id ? -1 : 1),
  )
  return pageOf(rows, limit, threadInfo, (last) => scope.encode([last.updatedAt, last.id]))
}

export function listResourceIds(streams: Iterable<MemoryStream>, query: PageRequest): Page<string> {
  const limit = pageLimit(query)
  const scope = new CursorScope(['resources'], [''])
  const [after] = scope.decode(query.cursor)
  const ids = new Set<string>()
  for (const thread of livingThreads(streams, (found) => found.resourceId > after)) ids.add(thread.resourceId)
  const rows = firstSorted(ids, limit + 1, (a, b) => (a < b ? -1 : 1))
  return pageOf(
    rows,
    limit,
    (row) => row,
    (last) => scope.encode([last]),
  )
}

function* livingThreads(
  streams: Iterable<MemoryStream>,
  isWanted: (thread: StoredThread) => boolean,
): Generator<StoredThread> {
  for (const { thread } of streams) {
    if (thread !== null && isWanted(thread)) yield thread
  }
}
