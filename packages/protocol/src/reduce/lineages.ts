import type { Binding } from '../binding.ts'
import { contentEnd } from '../content-end.ts'
import type { ErasedRecord, ForkRecord, RewindRecord } from '../control-record.ts'
import { emptyHead } from '../head.ts'
import { Keyed } from '../keyed.ts'
import { rangeAt, type Lineage, type LineageRange } from '../lineage.ts'
import { List } from '../list.ts'
import { asJson } from '../op.ts'
import { storedHead } from '../stored-head.ts'
import type { TaskItem } from '../task.ts'
import { dropMessages, removeHeadEntry, setHead, setHeadEntry, type Draft } from './draft.ts'
import type { RecordContext } from './reduce.ts'
import { setRun } from './runs.ts'
import { eraseKeys, inheritedAt } from './settings.ts'

/** A fork starts clean: no waits, queue, run, grants, usage or native sessions of its parent. */
export function applyFork(draft: Draft, body: ForkRecord, record: RecordContext): void {
  const { keep } = body
  dropMessages(draft)
  draft.head = {
    ...emptyHead(record.stream),
    seq: record.seq,
    lineage: List.from(body.lineage).push(openRange(record)),
    mode: keep.mode,
    model: keep.model,
    agentId: keep.agentId,
    rules: keep.rules,
    yolo: keep.yolo,
    settings: Keyed.from(Object.entries(keep.settings)),
    settingsAt: inheritedAt(keep.settings, record),
    tasks: keep.tasks,
    tasksAt: record.seq,
    om: keep.om,
    grants: keep.grants,
    bindings: Keyed.from(Object.entries(keep.origins)),
  }
  draft.ops.push({ type: 'set', path: ['head'], value: asJson(storedHead(draft.head)) })
}

/** Conversation, tasks and memory move to the earlier point. Rules, usage and answers stay. */
export function applyRewind(draft: Draft, body: RewindRecord, record: RecordContext): void {
  const before = draft.head.lineage
  const isForward = body.lineage?.some((range) => !holdsRange(before, range)) === true
  dropMessages(draft)
  if (draft.head.run !== null) setRun(draft, null)
  if (body.lineage === undefined) cutLineage(draft, body.to, record)
  else setLineage(draft, List.from(body.lineage).push(openRange(record)))
  setHead(draft, 'rewrittenAt', record.seq)
  setTasks(draft, body.tasks, record)
  setHead(draft, 'om', body.om)
  for (const [id, { openedAt }] of draft.head.waits.backwards()) {
    if (openedAt <= body.to) break
    removeHeadEntry(draft, 'waits', id)
  }
  // A native session that still holds erased content stays `erased`, wherever the thread goes on.
  staleBindings(draft, 'rewound', ({ syncedTo, stale }) => syncedTo > body.to && stale === undefined)
  // A rewind to a later point brings back messages a client may not have, so it has to read its window again.
  draft.ops.push(
    isForward
      ? { type: 'remove', path: ['messages'] }
      : { type: 'remove', path: ['messages'], from: body.to + 1, to: record.seq },
  )
}

/** Removes from the state what the erasure removed from the records. */
export function applyErased(draft: Draft, body: ErasedRecord, record: RecordContext): void {
  const isErased = (seq: number): boolean => seq >= body.from && seq <= body.to
  setHead(draft, 'rewrittenAt', record.seq)
  draft.messages = draft.messages.filter((message) => !isErased(message.order))
  draft.ops.push({ type: 'remove', path: ['messages'], from: body.from, to: body.to })
  for (const [id, { openedAt }] of draft.head.waits.entries()) {
    if (isErased(openedAt)) removeHeadEntry(draft, 'waits', id)
  }
  for (const [id, { addedAt }] of draft.head.queue.entries()) {
    if (isErased(addedAt)) removeHeadEntry(draft, 'queue', id)
  }
  if (isErased(draft.head.tasksAt)) setTasks(draft, [], record)
  if (isErased(draft.head.titleAt)) {
    setHead(draft, 'title', null)
    setHead(draft, 'titleAt', record.seq)
  }
  if (isErased(draft.head.goalAt)) {
    setHead(draft, 'goal', null)
    setHead(draft, 'goalAt', record.seq)
  }
  eraseKeys(draft, 'settings', 'settingsAt', isErased)
  eraseKeys(draft, 'state', 'stateAt', isErased)
  // Observations of the range go, wherever they were recorded.
  if (draft.head.om !== null && contentEnd(draft.head.om) >= body.from) setHead(draft, 'om', null)
  const { lastRun } = draft.head
  if (lastRun !== null && (lastRun.error ?? lastRun.output) !== undefined && isErased(lastRun.endedSeq)) {
    const { error: _error, output: _output, ...kept } = lastRun
    setHead(draft, 'lastRun', kept)
  }
  staleBindings(draft, 'erased', ({ syncedTo }) => syncedTo >= body.from)
}

export function setTasks(draft: Draft, tasks: readonly TaskItem[], { seq }: RecordContext): void {
  setHead(draft, 'tasks', tasks)
  setHead(draft, 'tasksAt', seq)
}

function staleBindings(draft: Draft, stale: 'rewound' | 'erased', isAffected: (binding: Binding) => boolean): void {
  for (const [agentId, binding] of draft.head.bindings.entries()) {
    if (isAffected(binding)) setHeadEntry(draft, 'bindings', agentId, { ...binding, stale })
  }
}

/** Drops the ranges after the point, ends the range that holds it there, and begins a new range at the record. */
function cutLineage(draft: Draft, to: number, record: RecordContext): void {
  let { lineage } = draft.head
  while (lineage.length > 0 && (lineage.at(-1)?.from ?? 0) > to) lineage = lineage.pop()
  const isShorter = lineage.length < draft.head.lineage.length
  if (isShorter) draft.ops.push({ type: 'remove', path: ['head', 'lineage'], from: to + 1, to: record.seq })
  const last = lineage.at(-1)
  if (last !== undefined && (last.to === null || last.to > to)) {
    const cut = { ...last, to }
    lineage = lineage.set(lineage.length - 1, cut)
    rangeOp(draft, cut)
  }
  const own = openRange(record)
  draft.head = { ...draft.head, lineage: lineage.push(own) }
  rangeOp(draft, own)
}

function setLineage(draft: Draft, lineage: List<LineageRange>): void {
  draft.head = { ...draft.head, lineage }
  draft.ops.push({ type: 'set', path: ['head', 'lineage'], value: asJson(lineage.toArray()) })
}

function rangeOp(draft: Draft, range: LineageRange): void {
  draft.ops.push({ type: 'set', path: ['head', 'lineage', String(range.from)], value: asJson(range) })
}

function openRange({ stream, seq }: RecordContext): LineageRange {
  return { stream, from: seq, to: null }
}

function holdsRange(lineage: Lineage, range: LineageRange): boolean {
  const held = rangeAt(lineage, range.from)
  if (held === undefined || held.stream !== range.stream) return false
  return held.to === null || (range.to !== null && range.to <= held.to)
}
