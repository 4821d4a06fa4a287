import type { Claim, Fence, Owner, Page, PageRequest, StreamStatus } from '@inspan/protocol/store'
import { judgeClaim } from '../claim-rules.ts'
import { CursorScope } from '../cursor.ts'
import { checkId, checkTime, pageLimit } from '../input-checks.ts'
import { pageOf } from '../paging.ts'
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

/** Removes an owner and releases all its streams. */
export function removeOwner(state: MemoryState, id: string): void {
  for (const stream of state.streams.values()) {
    if (stream.owner === id) stream.owner = null
  }
  state.owners.delete(id)
}

export function listOwners(state: MemoryState, query: PageRequest): Page<Owner> {
  const limit = pageLimit(query)
  const scope = new CursorScope(['owners'], [''])
  const [after] = scope.decode(query.cursor)
  const later = [...state.owners.values()].filter((owner) => owner.id > after)
  const rows = firstSorted(later, limit + 1, (a, b) => (a.id < b.id ? -1 : 1))
  return pageOf(
    rows,
    limit,
    (row) => row,
    (last) => scope.encode([last.id]),
  )
}

/** Claims a free stream, or with `seenEpoch` that of an owner found dead. */
export function claim(state: MemoryState, id: string, owner: string, seenEpoch?: number): Claim {
  checkId('An owner id', owner)
  const stream = state.require(id)
  const verdict = judgeClaim(stream, owner, seenEpoch)
  if (verdict === 'held') {
    const holder = stream.owner as string
    return { status: 'held', epoch: stream.epoch, owner: holder, holder: state.owners.get(holder) ?? null }
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
  const limit = pageLimit(query)
  const scope = new CursorScope(['owned', query.owner], [''])
  const [after] = scope.decode(query.cursor)
  const later = [...state.streams.values()].filter((stream) => stream.owner === query.owner && stream.id > after)
  const rows = firstSorted(later, limit + 1, (a, b) => (a.id < b.id ? -1 : 1))
  return pageOf(rows, limit, statusOf, (last) => scope.encode([last.id]))
}
