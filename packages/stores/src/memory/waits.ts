import type { WaitCancelReason } from '@inspan/protocol'
import type { Page, WaitRow } from '@inspan/protocol/store'
import { checkId } from '../shared/input-checks.ts'
import { dueScope, erasedRow, waitFromRow, waitsScope, type DueQuery, type WaitQuery } from '../shared/wait-row.ts'
import type { MemoryState, MemoryWait } from './memory-state.ts'

export function getWait(state: MemoryState, stream: string, waitId: string): WaitRow | null {
  checkId('A wait id', waitId)
  const no = state.waitNumbers.get(JSON.stringify([stream, waitId]))
  const [stored] = no === undefined ? [] : state.waits.range(no, no)
  return stored === undefined ? null : waitFromRow(stored)
}

export function listWaits(state: MemoryState, query: WaitQuery): Page<WaitRow> {
  const { root, stream, state: wanted } = query
  const isWanted = (stored: MemoryWait): boolean =>
    (stream === undefined || stored.stream === stream) &&
    (root === undefined || stored.stream === root || state.living(stored.stream)?.thread?.root === root) &&
    (wanted === undefined || stored.state === wanted) &&
    state.living(stored.stream) !== undefined
  return waitsScope(query).page(
    query,
    ([after], count) =>
      state.waits
        .range(after + 1, Infinity)
        .filter(isWanted)
        .slice(0, count),
    (row) => waitFromRow(row),
    (last) => [last.no],
  )
}

export function listDue(state: MemoryState, query: DueQuery): Page<WaitRow> {
  return dueScope(query).page(
    query,
    ([after, no], count) =>
      state.waits
        .range(0, Infinity)
        .flatMap((stored) => (stored.due === null ? [] : [{ ...stored, due: stored.due }]))
        .filter(
          ({ due, state: now, stream }) => now === 'pending' && due <= query.now && state.living(stream) !== undefined,
        )
        .filter((stored) => stored.due > after || (stored.due === after && stored.no > no))
        .sort((a, b) => a.due - b.due || a.no - b.no)
        .slice(0, count),
    (row) => waitFromRow(row),
    (last) => [last.due, last.no],
  )
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
    state.waits.put(stored.no, { ...stored, ...erasedRow(stored, reason, now) })
  }
}

export function dropWaits(state: MemoryState, stream: string): void {
  for (const { id } of state.waits.remove(0, Infinity, (stored) => stored.stream === stream)) {
    state.waitNumbers.delete(JSON.stringify([stream, id]))
  }
}
