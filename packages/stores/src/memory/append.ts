import { InspanError } from '@inspan/protocol'
import type { Lineage } from '@inspan/protocol/log'
import type { Append, NewStream, StreamStatus } from '@inspan/protocol/store'
import { checkId, checkSeq } from '../shared/input-checks.ts'
import { notContiguous, prepareAppend, type PreparedAppend, type PreparedWait } from '../shared/prepared-append.ts'
import { isCovered } from '../shared/retention.ts'
import { parentGone, streamExists } from '../shared/store-errors.ts'
import { foreignStretches } from '../shared/stretches.ts'
import { checkBlobs, putBlobs } from './blobs.ts'
import { checkOutcomes, writeOutcomes } from './commands.ts'
import { newStream, statusOf, type MemoryState, type MemoryStream, type SourceRange } from './memory-state.ts'
import { needsOf } from './removal.ts'
import { changedThread, newThread } from './threads.ts'

export function createStream(state: MemoryState, request: NewStream): StreamStatus {
  const { info, start } = request
  checkSeq('`headSeq`', request.headSeq, 0)
  const stream = newStream(info.id, request.kind, request.headSeq)
  if (state.streams.has(info.id)) throw streamExists(info.id)
  stream.thread = newThread(request)
  if (start !== undefined) {
    checkId('An owner id', start.owner)
    stream.owner = start.owner
    stream.epoch = 1
    writeAppend(state, stream, prepareAppend(info.id, start), start.thread)
  }
  state.streams.set(info.id, stream)
  return statusOf(stream)
}

export function append(state: MemoryState, request: Append): number {
  const prepared = prepareAppend(request.stream, request)
  const stream = state.requireFence(request.stream, request.fence)
  return writeAppend(state, stream, prepared, request.thread)
}

/** Checks everything that can be refused first: after that nothing fails, so it is all or nothing. */
function writeAppend(
  state: MemoryState,
  stream: MemoryStream,
  prepared: PreparedAppend,
  thread: Append['thread'],
): number {
  const { expectedHead, newHead } = prepared
  if (expectedHead !== null && expectedHead !== stream.headSeq) {
    throw notContiguous(stream.id, stream.headSeq, expectedHead + 1)
  }
  const needs = prepared.records.reduce(
    (known, record) => (record.lineage === null ? known : addNeeds(state, stream, known, record.lineage)),
    stream.needs,
  )
  checkOutcomes(state, prepared.outcomes)
  checkBlobs(state, prepared.blobs)
  const changed = thread === undefined || stream.thread === null ? stream.thread : changedThread(stream.thread, thread)

  stream.headSeq = newHead ?? stream.headSeq
  stream.needs = needs
  stream.thread = changed
  for (const record of prepared.records) {
    const { replaces, first, named, seq } = record
    if (named !== null) stream.namedRuns.set(named, seq)
    if (replaces !== null && first !== null) stream.records.remove(first, seq, (row) => row.part === replaces)
    stream.records.put(seq, record)
  }
  for (const message of prepared.messages) stream.messages.put(message.order, message)
  for (const wait of prepared.waits) putWait(state, stream.id, wait)
  putBlobs(state, stream, prepared.blobs)
  writeOutcomes(state, prepared.outcomes, stream.headSeq)
  if (prepared.head !== null) stream.head = prepared.head
  return stream.headSeq
}

function addNeeds(
  state: MemoryState,
  stream: MemoryStream,
  known: readonly SourceRange[],
  lineage: Lineage,
): readonly SourceRange[] {
  let needs = known
  for (const stretch of foreignStretches(stream.id, lineage)) {
    const own = needs.filter((need) => need.stream === stretch.stream)
    if (isCovered(stretch, own)) continue
    const source = state.streams.get(stretch.stream)
    if (source === undefined || (source.isDeleted && !isCovered(stretch, needsOf(state, source.id)))) {
      throw parentGone(stream.id, stretch)
    }
    if (stretch.to > source.headSeq) {
      throw new InspanError('misuse', `${stretch.stream} ends at ${source.headSeq}, before ${stretch.to}.`)
    }
    needs = [...needs, { stream: stretch.stream, from: stretch.from, to: stretch.to }]
  }
  return needs
}

function putWait(state: MemoryState, stream: string, wait: PreparedWait): void {
  const key = JSON.stringify([stream, wait.id])
  const no = state.waitNumbers.get(key) ?? state.nextNumber()
  state.waitNumbers.set(key, no)
  state.waits.put(no, { ...wait, no, stream })
}
