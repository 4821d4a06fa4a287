import type { ConfigChangedRecord } from '@inspan/protocol/log'
import * as fc from 'fast-check'
import { arbitraryBinding, arbitraryTasks } from '../control.ts'
import { arbitraryBlobRef } from '../json.ts'
import { arbitraryUserParts } from '../message.ts'
import {
  arbitraryCheckpointFiles,
  arbitraryConfigChange,
  arbitraryQueueItem,
  recordBodiesByType,
} from '../record-body.ts'
import { pick, type Move } from './agent-moves.ts'
import { ensureRun } from './run.ts'
import { pickFrom, type LogWriter } from './writer.ts'

const say = fc
  .record({ parts: arbitraryUserParts, role: fc.constantFrom('user' as const, 'user' as const, 'system' as const) })
  .map(({ parts, role }): Move => (log) => {
    const body = { type: 'message.added', messageId: log.newId('m'), role, parts } as const
    log.append(body, { by: 'user', cause: log.newId('k') })
    log.markBoundary()
  })

const start = pick.map((pick): Move => (log) => {
  ensureRun(log, pick)
})

/** Items queued by users. Hand-offs come from agents. */
const queued = arbitraryQueueItem.filter(({ lane }) => lane !== 'hand-off')

const handOff = arbitraryUserParts.map((parts): Move => (log) => {
  const { agentId, runId } = ensureRun(log)
  log.append({ type: 'queue.added', item: { id: `${runId}:hand-off`, lane: 'hand-off', agentId, parts } })
})

const enqueue = fc.record({ item: queued, front: fc.boolean() }).map(({ item, front }): Move => (log) => {
  const id = log.newId('q')
  const body = { type: 'queue.added', item: { ...item, id }, ...(front ? { front } : {}) } as const
  log.queue.push({ id, addedAt: log.append(body, { by: 'user' }) })
})

/** A user who queues many items, some of them at the front. */
const enqueueMany = fc
  .record({ item: queued, fronts: fc.array(fc.boolean(), { minLength: 20, maxLength: 60 }) })
  .map(({ item, fronts }): Move => (log) => {
    for (const front of fronts) {
      const id = log.newId('q')
      const body = { type: 'queue.added', item: { ...item, id }, ...(front ? { front } : {}) } as const
      log.queue.push({ id, addedAt: log.append(body, { by: 'user' }) })
    }
  })

const dequeue = fc
  .record({ pick, reason: fc.constantFrom('heard' as const, 'sent' as const, 'dropped' as const) })
  .map(({ pick, reason }): Move => (log) => {
    const item = pickFrom(log.queue, pick)
    if (item === undefined) return
    log.queue = log.queue.filter((other) => other !== item)
    log.append({ type: 'queue.removed', itemId: item.id, reason })
  })

const hold = fc.boolean().map((held): Move => (log) => {
  log.append({ type: 'queue.held', held })
})

const configure = arbitraryConfigChange.map((change): Move => (log) => {
  log.append(change, { by: 'user' })
  log.keep = keepChanged(log.keep, change)
})

function keepChanged(keep: LogWriter['keep'], change: ConfigChangedRecord): LogWriter['keep'] {
  const { mode = keep.mode, model = keep.model, agentId = keep.agentId, rules = keep.rules, yolo = keep.yolo } = change
  return { ...keep, mode, model, agentId, rules, yolo }
}

const setTasks = arbitraryTasks.map((tasks): Move => (log) => {
  log.tasks = tasks
  log.tasksAt = log.append({ type: 'tasks.changed', tasks })
})

const checkpoint = arbitraryCheckpointFiles.map((files): Move => (log) => {
  log.append({ type: 'checkpoint.made', checkpointId: log.newId('p'), root: '/project', files })
})

/** A native session knows the conversation up to the end of the log, never further. */
const bind = arbitraryBinding.map((made): Move => (log) => {
  const { stale: _stale, origin: _origin, ...fresh } = made
  const binding = { ...fresh, agentId: log.run?.agentId ?? 'native', nativeId: log.newId('n'), syncedTo: log.seq }
  log.bindings.set(binding.agentId, binding)
  log.append({ type: 'binding.changed', binding })
})

const unbind = pick.map((pick): Move => (log) => {
  const agentId = pickFrom([...log.bindings.keys()], pick)
  if (agentId === undefined) return
  log.bindings.delete(agentId)
  log.append({ type: 'binding.removed', agentId })
})

/** Sometimes replaces a generation that is no longer the newest: of two observers the second has to lose. */
const observe = fc.record({ ref: arbitraryBlobRef, isLate: fc.boolean() }).map(({ ref, isLate }): Move => (log) => {
  const newest = log.om?.generation ?? 0
  const replaces = isLate && newest > 0 ? newest - 1 : newest
  const om = { generation: replaces + 1, coversTo: log.seq, blob: ref.blob }
  log.append({ type: 'om.committed', om, replaces })
  if (replaces === newest) log.om = om
})

/** Sometimes comes too late, like an observation. */
const cut = fc
  .record({ omitted: fc.nat({ max: 9 }), isLate: fc.boolean() })
  .map(({ omitted, isLate }): Move => (log) => {
    const newest = log.om?.generation ?? 0
    const generation = isLate ? newest : newest + 1
    const coversTo = log.seq
    log.append({ type: 'context.cut', coversTo, omitted, generation })
    if (isLate) return
    const before = log.om
    const content = before?.blob === undefined ? {} : { contentTo: before.contentTo ?? before.coversTo }
    log.om = { ...before, ...content, generation, coversTo, omitted: (before?.omitted ?? 0) + omitted }
  })

const compact = arbitraryBlobRef.map((summary): Move => (log) => {
  const generation = (log.om?.generation ?? 0) + 1
  const coversTo = log.seq
  log.append({ type: 'compaction', summary, coversTo, generation, tokensBefore: 90, tokensAfter: 9 })
  log.om = { generation, coversTo, blob: summary.blob, holds: 'summary' }
})

const delegate = recordBodiesByType['child.started'].map((body): Move => (log) => {
  log.append(body)
})

const endChild = recordBodiesByType['child.ended'].map((body): Move => (log) => {
  log.append(body)
})

const note = recordBodiesByType.note.map((body): Move => (log) => {
  log.append(body)
})

const anyBoundary = fc.nat({ max: 99 })

/** Only between runs or while one is parked. A running one would have to end first. */
const rewind = fc.record({ pick: anyBoundary, isNamed: fc.boolean() }).map(({ pick, isNamed }): Move => (log) => {
  const to = pickFrom(log.boundaries, pick)
  if (to === undefined || (log.run !== null && !log.run.isParked)) return
  log.rewind(to, isNamed)
})

/** A user who repeatedly sends a message and rewinds to just before it. */
const rewindOften = fc
  .record({ parts: arbitraryUserParts, count: fc.nat({ max: 20 }), isNamed: fc.boolean() })
  .map(({ parts, count, isNamed }): Move => (log) => {
    if (log.run !== null) return
    for (let n = 0; n < count; n++) {
      log.append({ type: 'message.added', messageId: log.newId('m'), role: 'user', parts }, { by: 'user' })
      log.markBoundary()
      const here = log.boundaries.at(-1)
      log.append({ type: 'message.added', messageId: log.newId('m'), role: 'user', parts }, { by: 'user' })
      if (here !== undefined) log.rewind(here, isNamed)
    }
  })

/** Erases whole stretches of this stream, between two points at which nothing was open. */
const erase = fc.record({ from: anyBoundary, to: anyBoundary }).map(({ from, to }): Move => (log) => {
  const first = log.records[0]?.seq
  if (log.run !== null || first === undefined) return
  const own = log.boundaries.map((boundary) => boundary.seq).filter((seq) => seq >= first)
  const starts = [first - 1, ...own]
  const start = pickFrom(starts, from)
  const end = pickFrom(own, to)
  if (start === undefined || end === undefined || end <= start) return
  log.erase(start + 1, end)
})

/** What can happen to a thread whether an agent runs or not. */
export const threadMoves: readonly fc.WeightedArbitrary<Move>[] = [
  { weight: 4, arbitrary: say },
  { weight: 3, arbitrary: start },
  { weight: 2, arbitrary: enqueue },
  { weight: 1, arbitrary: enqueueMany },
  { weight: 2, arbitrary: dequeue },
  { weight: 1, arbitrary: handOff },
  { weight: 1, arbitrary: hold },
  { weight: 2, arbitrary: configure },
  { weight: 2, arbitrary: setTasks },
  { weight: 1, arbitrary: checkpoint },
  { weight: 2, arbitrary: bind },
  { weight: 1, arbitrary: unbind },
  { weight: 2, arbitrary: fc.oneof(observe, cut, compact) },
  { weight: 1, arbitrary: fc.oneof(note, delegate, endChild) },
  { weight: 3, arbitrary: rewind },
  { weight: 1, arbitrary: rewindOften },
  { weight: 2, arbitrary: erase },
]
