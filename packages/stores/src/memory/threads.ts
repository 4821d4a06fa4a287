import type { Append, NewStream, Page, PageRequest, ThreadInfo } from '@inspan/protocol/store'
import { CursorScope } from '../shared/cursor.ts'
import { checkId, checkTime, toJsonText } from '../shared/input-checks.ts'
import { newThreadRow, threadFromRow, threadsScope, type ThreadQuery, type ThreadRow } from '../shared/thread-row.ts'
import { firstSorted } from './first-sorted.ts'
import type { MemoryState } from './memory-state.ts'

/** A thread's own data. Its texts are JSON, so that callers cannot change them from outside. */
export interface StoredThread extends ThreadRow {
  readonly root: string | undefined
}

export function newThread(stream: NewStream): StoredThread | null {
  const row = newThreadRow(stream)
  return row === undefined ? null : { ...row, root: stream.info.root }
}

/** `updatedAt` never goes back, whatever the clock does: a thread just used stays at the top. */
export function changedThread(thread: StoredThread, change: NonNullable<Append['thread']>): StoredThread {
  if (change.resourceId !== undefined) checkId('A resource id', change.resourceId)
  if (change.updatedAt !== undefined) checkTime('`updatedAt`', change.updatedAt)
  return {
    ...thread,
    resource_id: change.resourceId ?? thread.resource_id,
    hidden: change.hidden ?? thread.hidden,
    updated_at: Math.max(thread.updated_at, change.updatedAt ?? thread.updated_at),
    title: change.title === undefined ? thread.title : toJsonText('A title', change.title),
    metadata: change.metadata === undefined ? thread.metadata : toJsonText('The metadata of a thread', change.metadata),
  }
}

export function getThread(state: MemoryState, id: string): ThreadInfo | null {
  const thread = state.living(id)?.thread ?? null
  return thread === null ? null : threadFromRow(thread)
}

export function listThreads(state: MemoryState, query: ThreadQuery): Page<ThreadInfo> {
  const { resourceId, includeHidden = false, root } = query
  return threadsScope(query).page(
    query,
    ([updatedAt, id], count) => {
      const wanted = livingThreads(state).filter(
        (thread) =>
          (includeHidden || root !== undefined || thread.hidden === false) &&
          (resourceId === undefined || thread.resource_id === resourceId) &&
          (root === undefined || thread.root === root) &&
          (thread.updated_at < updatedAt || (thread.updated_at === updatedAt && thread.id > id)),
      )
      return firstSorted(wanted, count, (a, b) => b.updated_at - a.updated_at || (a.id < b.id ? -1 : 1))
    },
    threadFromRow,
    (last) => [last.updated_at, last.id],
  )
}

export function listResourceIds(state: MemoryState, query: PageRequest): Page<string> {
  return new CursorScope(['resources'], ['']).page(
    query,
    ([after], count) => {
      const ids = new Set(livingThreads(state).map((thread) => thread.resource_id))
      return firstSorted(
        ids.values().filter((id) => id > after),
        count,
        (a, b) => (a < b ? -1 : 1),
      )
    },
    (id) => id,
    (last) => [last],
  )
}

function livingThreads(state: MemoryState): IteratorObject<StoredThread> {
  return state.streams.values().flatMap(({ thread }) => (thread === null ? [] : [thread]))
}
