import type { ConfigChangedRecord, QueueAddedRecord, WaitAnsweredRecord, WaitOpenedRecord } from '../control-record.ts'
import { emptyHead, type Head } from '../head.ts'
import { IdList } from '../id-list.ts'
import { emptyTrie } from '../id-trie.ts'
import type { ThreadMessage } from '../message.ts'
import type { Op } from '../op.ts'
import type { LogRecord, RecordBody } from '../record.ts'
import { removeHeadEntry, setHead, setHeadEntry, type Draft, type ThreadState } from './draft.ts'
import { endDoubt } from './doubts.ts'
import { applyErased, applyFork, applyRewind } from './lineages.ts'
import { applySettings, setAt } from './settings.ts'
import { applyMessageAdded, applyMessageEnded, applyMessageStarted } from './messages.ts'
import { applyBatch, applyCallStarted, applySeal, moveCall } from './parts.ts'
import {
  applyRunEnded,
  applyRunParked,
  applyRunResumed,
  applyRunStarted,
  applyStepEnded,
  applyTurnEnded,
  changeRun,
  keepAnswer,
  useKept,
} from './runs.ts'

/** What of a record the fold looks at besides its body. */
export type RecordContext = Pick<LogRecord, 'stream' | 'seq' | 'at' | 'run' | 'turn'>

export interface Reduced {
  readonly state: ThreadState
  readonly ops: readonly Op[]
  /** Messages whose view row has to be written in the record's transaction. */
  readonly written: readonly ThreadMessage[]
}

export function emptyState(stream: string): ThreadState {
  return restingState(emptyHead(stream))
}

/** A thread between runs: its head is the whole state. */
export function restingState(head: Head): ThreadState {
  return { head, messages: IdList.empty(), calls: emptyTrie() }
}

/**
 * Applies one record. Pure and total: whatever comes in the log, the old state stays as it was and a new one comes out.
 * The cost depends on the size of the record, never on that of the message, the run or the thread. What opens or ends a
 * wait, queues, or rewinds also pays for the waits, items or ranges that are there: their lists are copied.
 */
export function reduce(state: ThreadState, record: LogRecord): Reduced {
  const draft: Draft = { head: state.head, messages: state.messages, calls: state.calls, ops: [], written: [] }
  apply(draft, record.body, record)
  return {
    // Deltas that share a seq, until it is written, do not copy the head each.
    state: {
      head: draft.head.seq === record.seq ? draft.head : { ...draft.head, seq: record.seq },
      messages: draft.messages,
      calls: draft.calls,
    },
    ops: draft.ops,
    written: draft.written,
  }
}

function apply(draft: Draft, body: RecordBody, record: RecordContext): void {
  switch (body.type) {
    case 'batch':
      return applyBatch(draft, body.event)
    case 'text-delta':
    case 'reasoning-delta':
    case 'tool-call':
    case 'tool-result':
      return applySeal(draft, body)
    case 'message.added':
      return applyMessageAdded(draft, body, record)
    case 'message.started':
      return applyMessageStarted(draft, body, record)
    case 'message.ended':
      return applyMessageEnded(draft, body)
    case 'run.started':
      return applyRunStarted(draft, body, record)
    case 'run.resumed':
      return applyRunResumed(draft, body)
    case 'run.parked':
      return applyRunParked(draft, body)
    case 'run.ended':
      return applyRunEnded(draft, body, record)
    case 'turn.started':
      return changeRun(draft, {
        ...(draft.head.run?.agentId === body.agentId ? {} : { agentId: body.agentId }),
        turnId: body.turnId,
        step: null,
        isStepOpen: false,
        processes: [],
      })
    case 'turn.process':
      return changeRun(draft, { processes: [...(draft.head.run?.processes ?? []), body.process] })
    case 'turn.ended':
      return applyTurnEnded(draft, body)
    case 'step.started':
      return changeRun(draft, { step: body.stepIndex, isStepOpen: true })
    case 'step.ended':
      return applyStepEnded(draft, body)
    case 'call.started':
      return applyCallStarted(draft, body)
    case 'wait.opened':
      return applyWaitOpened(draft, body, record)
    case 'wait.answered':
      return applyWaitAnswered(draft, body)
    case 'wait.cancelled':
    case 'wait.superseded':
      return removeHeadEntry(draft, 'waits', body.waitId)
    case 'queue.added':
      return applyQueueAdded(draft, body, record)
    case 'queue.removed':
      return setHead(
        draft,
        'queue',
        draft.head.queue.filter((item) => item.id !== body.itemId),
      )
    case 'queue.held':
      return setHead(draft, 'queueHeld', body.held)
    case 'config.changed':
      return applyConfigChanged(draft, body, record)
    case 'tasks.changed':
      setHead(draft, 'tasks', body.tasks)
      return setHead(draft, 'tasksAt', record.seq)
    case 'binding.changed':
      return setHeadEntry(draft, 'bindings', body.binding.agentId, body.binding)
    case 'binding.removed':
      return removeHeadEntry(draft, 'bindings', body.agentId)
    case 'fork':
      return applyFork(draft, body, record)
    case 'rewind':
      return applyRewind(draft, body, record)
    case 'erased':
      return applyErased(draft, body, record)
    case 'om.committed':
      // Compare-and-swap: of two observers that started from one generation, the second is ignored.
      if ((draft.head.om?.generation ?? 0) === body.replaces) setHead(draft, 'om', body.om)
      return
    case 'error':
    case 'run.cancelled':
    case 'checkpoint.made':
    case 'note':
      return
  }
}

function applyWaitOpened(draft: Draft, body: WaitOpenedRecord, record: RecordContext): void {
  setHeadEntry(draft, 'waits', body.wait.id, {
    ...body.wait,
    ...(record.run === undefined ? {} : { run: record.run }),
    ...(record.turn === undefined ? {} : { turn: record.turn }),
    ...(body.call === undefined ? {} : { call: body.call }),
    openedAt: record.seq,
    at: record.at,
  })
  useKept(draft, body.wait.subject.hash)
  if (body.call !== undefined) {
    const { id: waitId, interrupted, preconditions, subject } = body.wait
    const { hash, judgedAs } = subject
    moveCall(draft, body.call, ({ answer, preconditions: _before, ...call }) => ({
      ...call,
      // What was approved was made, or begun: that it may be made again is another question.
      ...(answer === undefined || interrupted === true ? {} : { answer }),
      stage: 'waiting',
      waitId,
      ...(hash === undefined ? {} : { hash }),
      ...(judgedAs === undefined ? {} : { judgedAs }),
      ...(preconditions === undefined ? {} : { preconditions }),
      ...(interrupted === undefined ? {} : { interrupted }),
    }))
  }
}

/**
 * The answer goes to the call, where it is found after a restart as well: apart from each other what decides whether it
 * may be carried out, and what the tool itself asked for while it was.
 */
function applyWaitAnswered(draft: Draft, body: WaitAnsweredRecord): void {
  const wait = Object.hasOwn(draft.head.waits, body.waitId) ? draft.head.waits[body.waitId] : undefined
  removeHeadEntry(draft, 'waits', body.waitId)
  const hash = wait?.subject.hash
  if (body.answer.decision === 'approve') endDoubt(draft, wait?.subject ?? {})
  if (body.detached === true && hash !== undefined) keepAnswer(draft, { hash, answer: body.answer })
  if (wait?.call === undefined) return
  const answered = wait.kind === 'approval' ? { answer: body.answer } : { resume: body.answer }
  moveCall(draft, wait.call, (state) => ({ ...state, stage: 'ordered', ...answered }))
}

function applyQueueAdded(draft: Draft, body: QueueAddedRecord, record: RecordContext): void {
  const item = { ...body.item, addedAt: record.seq }
  setHead(draft, 'queue', body.front === true ? [item, ...draft.head.queue] : [...draft.head.queue, item])
}

const PLAIN_CONFIG = ['mode', 'model', 'agentId', 'title', 'rules', 'grants', 'yolo', 'goal'] as const

function applyConfigChanged(draft: Draft, body: ConfigChangedRecord, record: RecordContext): void {
  for (const key of PLAIN_CONFIG) {
    const value = body[key]
    if (value !== undefined) setHead(draft, key, value)
  }
  if (body.title !== undefined) setHead(draft, 'titleAt', record.seq)
  if (body.goal !== undefined) setHead(draft, 'goalAt', record.seq)
  if (body.settings !== undefined) applySettings(draft, body.settings, record)
  if (body.state !== undefined) {
    setHead(draft, 'state', { ...draft.head.state, ...body.state })
    setHead(draft, 'stateAt', { ...draft.head.stateAt, ...setAt(Object.keys(body.state), record) })
  }
}
