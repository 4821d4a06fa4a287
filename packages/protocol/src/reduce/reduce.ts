import type {
  ContextCutRecord,
  BatchEvent,
  ConfigChangedRecord,
  OmPointer,
  QueueAddedRecord,
  WaitAnsweredRecord,
  WaitOpenedRecord,
} from '../control-record.ts'
import { handOffId } from '../hand-off.ts'
import { emptyHead, type Head } from '../head.ts'
import { IdList } from '../id-list.ts'
import { emptyTrie } from '../id-trie.ts'
import { Keyed } from '../keyed.ts'
import type { ThreadMessage } from '../message.ts'
import type { Op } from '../op.ts'
import type { LogRecord, RecordBody } from '../record.ts'
import {
  addHeadEntry,
  changeRunEntry,
  newDraft,
  removeHeadEntry,
  setHead,
  setHeadEntry,
  type Draft,
  type ThreadState,
} from './draft.ts'
import { endDoubt } from './doubts.ts'
import { applyErased, applyFork, applyRewind, setTasks } from './lineages.ts'
import { applySettings } from './settings.ts'
import { applyMessageAdded, applyMessageEnded, applyMessageStarted } from './messages.ts'
import { applyBatch, applyCallStarted, applySeal, moveCall, withMoreText } from './parts.ts'
import {
  applyRunEnded,
  applyRunParked,
  applyRunResumed,
  applyRunStarted,
  applyStepEnded,
  applyTurnEnded,
  changeRun,
  countUsage,
  keepAnswer,
  useKept,
} from './runs.ts'

/** What the fold needs of a record besides its body. */
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

/** The state of a thread between runs, which is its head alone. */
export function restingState(head: Head): ThreadState {
  return { head, messages: IdList.empty(), calls: emptyTrie() }
}

/**
 * Applies one record. Pure and total: for any record in the log it returns a new state and leaves the old one as it
 * was. The cost depends on the size of the record, never on that of the message, the run or the thread, nor on how many
 * waits, queue items or settings there are. Two types are exceptions: a record that ends a run closes the run's open
 * messages, and an erasure looks through the whole state.
 */
export function reduce(state: ThreadState, record: LogRecord): Reduced {
  const draft = newDraft(state, false)
  apply(draft, record.body, record)
  return { state: stateAt(draft, record.seq), ops: draft.ops, written: draft.written }
}

/** Returns the state that `reduce` gives, for a record that is shown before it is written. */
export function reduceShown(state: ThreadState, record: LogRecord): ThreadState {
  const draft = newDraft(state, true)
  apply(draft, record.body, record)
  return stateAt(draft, record.seq)
}

/** Returns the state that `reduce` gives for a batch at this seq, for a piece that is shown before it is written. */
export function reducePiece(state: ThreadState, event: BatchEvent, seq: number): ThreadState {
  const messages = withMoreText(state.messages, event)
  if (messages !== undefined) return { head: headAt(state.head, seq), messages, calls: state.calls }
  const draft = newDraft(state, true)
  applyBatch(draft, event)
  return stateAt(draft, seq)
}

function stateAt({ calls, head, messages }: Draft, seq: number): ThreadState {
  return { head: headAt(head, seq), messages, calls }
}

/** Deltas share a seq until it is written, so most of them need no copy of the head. */
function headAt(head: Head, seq: number): Head {
  return head.seq === seq ? head : { ...head, seq }
}

function apply(draft: Draft, body: RecordBody, record: RecordContext): void {
  switch (body.type) {
    case 'batch':
      return applyBatch(draft, body.event)
    case 'text-delta':
    case 'reasoning-delta':
    case 'file':
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
        processes: Keyed.empty(),
      })
    case 'turn.process':
      return changeRunEntry(draft, 'processes', String(record.seq), (all) => all.set(String(record.seq), body.process))
    case 'turn.ended':
      return applyTurnEnded(draft, body)
    case 'step.started':
      return changeRun(draft, { step: body.stepIndex, isStepOpen: true })
    case 'step.ended':
      return applyStepEnded(draft, body)
    case 'call.started':
      return applyCallStarted(draft, body, record)
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
      return removeHeadEntry(draft, 'queue', body.itemId)
    case 'queue.held':
      return setHead(draft, 'queueHeld', body.held)
    case 'config.changed':
      return applyConfigChanged(draft, body, record)
    case 'tasks.changed':
      return setTasks(draft, body.tasks, record)
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
      return moveContext(draft, body.replaces, body.om)
    case 'context.cut':
      return applyCut(draft, body)
    case 'compaction': {
      const { type: _type, summary, tokensAfter: _after, tokensBefore: _before, ...pointer } = body
      return moveContext(draft, body.generation - 1, { ...pointer, blob: summary.blob, holds: 'summary' })
    }
    case 'child.started':
      return setHeadEntry(draft, 'children', body.child.thread, body.child)
    case 'child.ended':
      if (body.usage !== undefined) countUsage(draft, body.usage)
      return removeHeadEntry(draft, 'children', body.thread)
    case 'error':
    case 'run.cancelled':
    case 'checkpoint.made':
    case 'note':
      return
  }
}

/** Drops more messages; what the blob holds of older ones stays. */
function applyCut(draft: Draft, { type: _type, ...cut }: ContextCutRecord): void {
  const { blob, contentTo, coversTo = 0, holds, omitted = 0 } = draft.head.om ?? {}
  const content = blob === undefined ? {} : { blob, contentTo: contentTo ?? coversTo }
  const om = { ...content, ...(holds === undefined ? {} : { holds }), ...cut, omitted: omitted + cut.omitted }
  moveContext(draft, cut.generation - 1, om)
}

/** Compare-and-swap: of two that started from one generation, the second is ignored. */
function moveContext(draft: Draft, replaces: number, om: OmPointer): void {
  if ((draft.head.om?.generation ?? 0) === replaces) setHead(draft, 'om', om)
}

function applyWaitOpened(draft: Draft, body: WaitOpenedRecord, record: RecordContext): void {
  // A question that is asked again moves to the end.
  addHeadEntry(draft, 'waits', body.wait.id, {
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
      // The earlier approval was used up when the call began. Making the call again needs a new answer.
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
 * Stores the answer with the call, where it is found after a restart too. `answer` decides whether the call may run;
 * `resume` is the answer to what the tool itself asked while it ran.
 */
function applyWaitAnswered(draft: Draft, body: WaitAnsweredRecord): void {
  const wait = draft.head.waits.get(body.waitId)
  removeHeadEntry(draft, 'waits', body.waitId)
  const hash = wait?.subject.hash
  if (body.answer.decision === 'approve') endDoubt(draft, wait?.subject ?? {})
  if (body.detached === true && hash !== undefined) keepAnswer(draft, hash, body.answer)
  if (wait?.call === undefined) return
  const answered = wait.kind === 'approval' ? { answer: body.answer } : { resume: body.answer }
  moveCall(draft, wait.call, (state) => ({ ...state, stage: 'ordered', ...answered }))
}

function applyQueueAdded(draft: Draft, body: QueueAddedRecord, record: RecordContext): void {
  // The run is over, so there is no floor left to hand off.
  const { run } = draft.head
  if (body.item.lane === 'hand-off' && (run === null || body.item.id !== handOffId(run))) return
  addHeadEntry(draft, 'queue', body.item.id, {
    ...body.item,
    addedAt: record.seq,
    ...(body.front === true ? { front: true } : {}),
  })
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
  for (const [key, value] of Object.entries(body.state ?? {})) {
    setHeadEntry(draft, 'state', key, value)
    setHeadEntry(draft, 'stateAt', key, record.seq)
  }
}
