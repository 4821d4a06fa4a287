import type { Wait, WaitCancelReason } from '@inspan/protocol'
import type { Page, PageRequest, Store, WaitRow } from '@inspan/protocol/store'
import { CursorScope } from '../cursor.ts'
import { erasedWait } from '../erased-wait.ts'
import { checkId, checkTime, pageLimit } from '../input-checks.ts'
import { pageOf } from '../paging.ts'
import type { MemoryState, StoredWait } from './memory-state.ts'
import { threadInfo } from './threads.ts'

export function getWait(state: MemoryState, stream: string, waitId: string): WaitRow | null {
  checkId('A wait id', waitId)
  const no = state.waitNumbers.get(JSON.stringify([stream, waitId]))
  const [stored] = no === undefined ? [] : state.waits.range(no, no)
  return stored === undefined ? null : waitOf(stored)
}

export function listWaits(state: MemoryState, query: Parameters<Store['listWaits']>[0]): Page<WaitRow> {
  const limit = pageLimit(query)
  const scope = new CursorScope(['waits', query.stream ?? null, query.root ?? null, query.state ?? null], [0])
  const [after] = scope.decode(query.cursor)
  const rows = state.waits
    .range(after + 1, Infinity)
    .filter(
      (stored) =>
        (query.stream === undefined || stored.stream === query.stream) &&
        (query.root === undefined || stored.stream === query.root || rootOf(state, stored.stream) === query.root) &&
        (query.state === undefined || stored.state === query.state) &&
        state.living(stored.stream) !== undefined,
    )
    .slice(0, limit + 1)
  return pageOf(rows, limit, waitOf, (last) => scope.encode([last.no]))
}

function rootOf(state: MemoryState, stream: string): string | undefined {
  const thread = state.living(stream)?.thread
  return thread === null || thread === undefined ? undefined : threadInfo(thread).root
}

export function listDue(state: MemoryState, query: PageRequest & { readonly now: number }): Page<WaitRow> {
  const limit = pageLimit(query)
  checkTime('`now`', query.now)
  const scope = new CursorScope(['due'], [0, 0])
  const [after, no] = scope.decode(query.cursor)
  const rows = state.waits
    .range(0, Infinity)
    .flatMap((stored) => (stored.due === null ? [] : [{ ...stored, due: stored.due }]))
    .filter(
      ({ due, state: now, stream }) => now === 'pending' && due <= query.now && state.living(stream) !== undefined,
    )
    .filter((stored) => stored.due > after || (stored.due === after && stored.no > no))
    .sort((a, b) => a.due - b.due || a.no - b.no)
    .slice(0, limit + 1)
  return pageOf(rows, limit, waitOf, (last) => scope.encode([last.due, last.no]))
}

/** Erases the content of the waits opened in the range; those still pending are cancelled. */
export function eraseWaits(
  state: MemoryState,
  stream: string,
  range: { from: number; to: number },
  reason: WaitCancelReason,
  now: number,
): void {
  for (const stored of state.waits.range(0, Infinity)) {
    if (stored.stream !== stream || stored.openedAt < range.from || stored.openedAt > range.to) continue
    const wait = JSON.stringify(erasedWait(JSON.parse(stored.wait) as Wait))
    state.waits.put(
      stored.no,
      stored.state === 'pending'
        ? { ...stored, wait, state: 'cancelled', settled: JSON.stringify({ settledAt: now, reason }) }
        : { ...stored, wait },
    )
  }
}

export function dropWaits(state: MemoryState, stream: string): void {
  for (const { id } of state.waits.remove(0, Infinity, (stored) => stored.stream === stream)) {
    state.waitNumbers.delete(JSON.stringify([stream, id]))
  }
}

function waitOf(stored: StoredWait): WaitRow {
  return {
    stream: stored.stream,
    wait: JSON.parse(stored.wait) as Wait,
    state: stored.state,
    ...(stored.settled === null ? {} : (JSON.parse(stored.settled) as Partial<WaitRow>)),
  }
}
