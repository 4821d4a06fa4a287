import type { Claim, Fence, Owner, Page, PageRequest, StreamStatus } from '@inspan/protocol/store'
import { judgeClaim } from '../shared/claim-rules.ts'
import { CursorScope } from '../shared/cursor.ts'
import { checkId, checkTime } from '../shared/input-checks.ts'
import { firstSorted } from './first-sorted.ts'
import { statusOf, type MemoryState } from './memory-state.ts'

export function putOwner(state: MemoryState, owner: Owner): void {
  checkId('An owner id', owner.id)
  checkTime('The end of an ownership', owner.until)
  state.owners.set(owner.id, Object.freeze({ ...owner }))
}

export function heartbeat(state: MemoryState, id: string, until: number): boolean {
  checkTime('The end of an ownership', until)
  const owner = state.owners.get(id)
  if (owner !== undefined) putOwner(state, { ...owner, until })
  return owner !== undefined
}

export function getOwner(state: MemoryState, id: string): Owner | null {
  return state.owners.get(id) ?? null
}

/** Removes an owner and releases all its streams. */
export function removeOwner(state: MemoryState, id: string): void {
  for (const stream of state.streams.values()) {
    if (stream.owner === id) stream.owner = null
  }
  state.owners.delete(id)
}

export function listOwners(state: MemoryState, query: PageRequest): Page<Owner> {
  return new CursorScope(['owners'], ['']).page(
    query,
    ([after], count) => firstById(state.owners.values(), after, count),
    (owner) => owner,
    (last) => [last.id],
  )
}

/** Claims a free stream, or with `seenEpoch` that of an owner found dead. */
export function claim(state: MemoryState, id: string, owner: string, seenEpoch?: number): Claim {
  checkId('An owner id', owner)
  const stream = state.require(id)
  const verdict = judgeClaim(stream, owner, seenEpoch)
  if (verdict === 'held') {
    const holder = stream.owner as string
    return { status: 'held', epoch: stream.epoch, owner: holder, holder: getOwner(state, holder) }
  }
  if (verdict === 'take') stream.epoch++
  stream.owner = owner
  return { status: 'owned', epoch: stream.epoch, headSeq: stream.headSeq }
}

/** Releases a stream. Does nothing for an owner who lost it already. */
export function release(state: MemoryState, id: string, fence: Fence): void {
  const stream = state.living(id)
  if (stream?.owner === fence.owner && stream.epoch === fence.epoch) stream.owner = null
}

export function listOwned(state: MemoryState, query: PageRequest & { readonly owner: string }): Page<StreamStatus> {
  const owned = state.streams.values().filter((stream) => stream.owner === query.owner)
  return new CursorScope(['owned', query.owner], ['']).page(
    query,
    ([after], count) => firstById(owned, after, count),
    statusOf,
    (last) => [last.id],
  )
}

function firstById<Row extends { readonly id: string }>(rows: Iterable<Row>, after: string, count: number): Row[] {
  const later = Iterator.from(rows).filter(({ id }) => id > after)
  return firstSorted(later, count, (a, b) => (a.id < b.id ? -1 : 1))
}
