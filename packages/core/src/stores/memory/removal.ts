import { eraseBody, type DeleteResult, type EraseResult, type Fence } from '@evener/protocol'
import { MAX_SEQ } from '../input-checks.ts'
import { recordFromRow } from '../record-row.ts'
import { gapsBetween, retainedRanges, type Need } from '../retention.ts'
import { dropBlobRefs } from './blobs.ts'
import { forgetCommandBodies } from './commands.ts'
import type { MemoryState, MemoryStream } from './memory-state.ts'
import { dropWaits, eraseWaits } from './waits.ts'

/** Who needs what of a stream. Only living threads have needs. */
export function needsOf(state: MemoryState, stream: string): Need[] {
  const needs: Need[] = []
  for (const by of state.streams.values()) {
    for (const need of by.needs) {
      if (need.stream === stream) needs.push({ by: by.id, from: need.from, to: need.to })
    }
  }
  return needs
}

export function deleteThread(state: MemoryState, thread: string, fence: Fence, now: number): DeleteResult {
  const found = state.streams.get(thread)
  const retained = (): DeleteResult['retained'] =>
    retainedRanges(needsOf(state, thread)).map((range) => ({ stream: thread, ...range }))
  if (found === undefined || found.isDeleted) return { deleted: false, retained: retained() }
  const stream = state.requireFence(thread, fence)
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
  const stream = state.requireFence(streamId, fence)
  const erased = stream.records.range(range.from, range.to).flatMap((row) => {
    const { v, body } = recordFromRow(streamId, row)
    const text = JSON.stringify(eraseBody(body))
    return text === row.body ? [] : [{ ...row, v, body: text }]
  })
  for (const row of erased) stream.records.put(row.seq, row)
  const messages = stream.messages.remove(range.from, range.to).length
  const blobs = dropBlobRefs(state, stream, range)
  eraseWaits(state, streamId, range, 'erase', now)
  stream.head = null
  return { records: erased.length, messages, blobs }
}
