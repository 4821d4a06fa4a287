import { eraseBody } from '@inspan/protocol/log'
import type { CommandOutcome, DeleteResult, EraseResult, Fence, ForkReach, Page } from '@inspan/protocol/store'
import { MAX_SEQ } from '../shared/input-checks.ts'
import { prepareOutcomes } from '../shared/prepared-append.ts'
import { recordFromRow } from '../shared/record-row.ts'
import { gapsBetween, retainedRanges, type Need } from '../shared/retention.ts'
import { fenced } from '../shared/store-errors.ts'
import { forksScope, type ForksQuery } from '../shared/stretches.ts'
import { dropBlobRefs } from './blobs.ts'
import { checkOutcomes, forgetCommandBodies, writeOutcomes } from './commands.ts'
import type { MemoryState, MemoryStream } from './memory-state.ts'
import { dropWaits, eraseWaits } from './waits.ts'

/** Returns which threads need which ranges of a stream. Only living threads have needs. */
export function needsOf(state: MemoryState, stream: string): Need[] {
  const needs: Need[] = []
  for (const by of state.streams.values()) {
    for (const need of by.needs) {
      if (need.stream === stream) needs.push({ by: by.id, from: need.from, to: need.to })
    }
  }
  return needs
}

/** Returns the threads that need something of the range, each with the last seq it needs. */
export function listForks(state: MemoryState, query: ForksQuery): Page<ForkReach> {
  const reach = new Map<string, number>()
  for (const { by, from, to } of needsOf(state, query.stream)) {
    if (to >= query.from && from <= query.to) reach.set(by, Math.max(reach.get(by) ?? 0, Math.min(to, query.to)))
  }
  const forks = [...reach].map(([thread, to]) => ({ thread, to })).sort((a, b) => (a.thread < b.thread ? -1 : 1))
  return forksScope(query).page(
    query,
    ([after], count) => forks.filter(({ thread }) => thread > after).slice(0, count),
    (fork) => fork,
    (last) => [last.thread],
  )
}

export function deleteThread(
  state: MemoryState,
  thread: string,
  fence: Fence,
  now: number,
  outcome?: CommandOutcome,
): DeleteResult {
  const outcomes = prepareOutcomes(outcome === undefined ? [] : [outcome])
  const found = state.streams.get(thread)
  const retained = (): DeleteResult['retained'] =>
    retainedRanges(needsOf(state, thread)).map((range) => ({ stream: thread, ...range }))
  if (found === undefined || found.isDeleted) return { deleted: false, retained: retained() }
  const stream = state.requireFence(thread, fence)
  checkOutcomes(state, outcomes)
  writeOutcomes(state, outcomes, null)
  const sources = new Set(stream.needs.map((need) => need.stream))
  stream.isDeleted = true
  stream.owner = null
  stream.epoch++
  stream.thread = null
  stream.head = null
  stream.needs = []
  eraseWaits(state, thread, { from: 0, to: MAX_SEQ }, 'delete', now)
  forgetCommandBodies(state, thread)
  const result = { deleted: true, retained: retained() }
  for (const id of [thread, ...sources]) {
    const source = state.streams.get(id)
    if (source?.isDeleted === true) purge(state, source)
  }
  return result
}

function purge(state: MemoryState, stream: MemoryStream): void {
  const needs = needsOf(state, stream.id)
  for (const gap of gapsBetween(needs, MAX_SEQ)) {
    stream.records.remove(gap.from, gap.to)
    stream.messages.remove(gap.from, gap.to)
    dropBlobRefs(state, stream, gap)
  }
  if (needs.length > 0) return
  state.streams.delete(stream.id)
  dropWaits(state, stream.id)
}

export function erase(
  state: MemoryState,
  streamId: string,
  fence: Fence,
  range: { readonly from: number; readonly to: number },
  now: number,
): EraseResult {
  const stream = requireEraser(state, streamId, fence)
  const erased = stream.records.range(range.from, range.to).flatMap((row) => {
    const { v, body } = recordFromRow(streamId, row, state.format)
    const text = JSON.stringify(eraseBody(body))
    return text === row.body ? [] : [{ ...row, type: body.type, v, body: text }]
  })
  for (const row of erased) stream.records.put(row.seq, row)
  const messages = stream.messages.remove(range.from, range.to).length
  const blobs = dropBlobRefs(state, stream, range)
  eraseWaits(state, streamId, range, 'erase', now)
  stream.head = null
  return { records: erased.length, messages, blobs }
}

/** What is left of a deleted thread belongs to its forks: the owner of one of them may erase it. */
function requireEraser(state: MemoryState, streamId: string, fence: Fence): MemoryStream {
  const stream = state.streams.get(streamId)
  if (stream === undefined || !stream.isDeleted) return state.requireFence(streamId, fence)
  const forks = needsOf(state, streamId).map(({ by }) => state.require(by))
  if (!forks.some(({ owner, epoch }) => owner === fence.owner && epoch === fence.epoch)) {
    throw fenced(streamId, fence, stream, null)
  }
  return stream
}
