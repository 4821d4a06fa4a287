import type {
  RunEndedRecord,
  RunParkedRecord,
  RunResumedRecord,
  RunStartedRecord,
  StepEndedRecord,
  TurnEndedRecord,
} from '../control-record.ts'
import { handOffId } from '../hand-off.ts'
import type { RunState } from '../head.ts'
import { Keyed } from '../keyed.ts'
import type { ThreadMessage } from '../message.ts'
import { asJson } from '../op.ts'
import { storedRun } from '../stored-head.ts'
import { addUsage, type UsageIncrement, type UsageMetadata } from '../usage.ts'
import { changeRunEntry, dropMessages, removeHeadEntry, setHead, type Draft } from './draft.ts'
import type { Answer } from '../wait.ts'
import { closeMessage } from './messages.ts'
import type { RecordContext } from './reduce.ts'

export function applyRunStarted(draft: Draft, body: RunStartedRecord, record: RecordContext): void {
  setRun(draft, {
    runId: body.runId,
    agentId: body.agentId,
    ...(body.door === undefined ? {} : { door: body.door }),
    status: 'running',
    attempt: 1,
    startedAt: record.at,
    startedSeq: record.seq,
    turnId: null,
    step: null,
    isStepOpen: false,
    processes: Keyed.empty(),
    rules: body.rules,
    usageBefore: draft.head.usage.own,
    ...(body.requestContext === undefined ? {} : { requestContext: body.requestContext }),
    ...(body.turn === undefined ? {} : { turn: body.turn }),
  })
}

export function applyRunResumed(draft: Draft, body: RunResumedRecord): void {
  changeRun(draft, { attempt: body.attempt, status: 'running' })
}

export function applyRunParked(draft: Draft, _body: RunParkedRecord): void {
  changeRun(draft, { status: 'parked' })
}

/** Ends the run. Its messages leave the state because they are rows of the view now. */
export function applyRunEnded(draft: Draft, body: RunEndedRecord, record: RecordContext): void {
  for (let i = 0; i < draft.messages.length; i++) {
    const message = draft.messages.at(i) as ThreadMessage
    if (message.state === 'open') closeMessage(draft, i, { ...message, state: 'interrupted' })
  }
  dropMessages(draft)
  setRun(draft, null)
  setHead(draft, 'lastRun', {
    runId: body.runId,
    outcome: body.outcome,
    endedAt: record.at,
    endedSeq: record.seq,
    ...(body.error === undefined ? {} : { error: body.error }),
    ...(body.output === undefined ? {} : { output: body.output }),
  })
}

export function applyTurnEnded(draft: Draft, body: TurnEndedRecord): void {
  if (body.increment !== undefined) countUsage(draft, body.increment)
  changeRun(draft, { turnId: null, step: null, isStepOpen: false, processes: Keyed.empty() })
}

export function applyStepEnded(draft: Draft, body: StepEndedRecord): void {
  if (body.usage !== undefined) countUsage(draft, body.usage)
  changeRun(draft, { isStepOpen: false })
}

export function setRun(draft: Draft, run: RunState | null): void {
  const before = draft.head.run
  if (before !== null) removeHeadEntry(draft, 'queue', handOffId(before))
  draft.head = { ...draft.head, run }
  if (draft.isOnlyShown) return
  draft.ops.push({ type: 'set', path: ['head', 'run'], value: run === null ? null : asJson(storedRun(run)) })
}

/** Changes single fields of the run, so that its rules, which may be long, are not sent again. */
export function changeRun(
  draft: Draft,
  changes: Partial<Pick<RunState, 'agentId' | 'attempt' | 'status' | 'turnId' | 'step' | 'isStepOpen' | 'processes'>>,
): void {
  const run = draft.head.run
  if (run === null) return
  draft.head = { ...draft.head, run: { ...run, ...changes } }
  if (draft.isOnlyShown) return
  for (const [key, value] of Object.entries(changes)) {
    const json = value instanceof Keyed ? asJson(value.toJSON()) : value
    draft.ops.push({ type: 'set', path: ['head', 'run', key], value: json })
  }
}

export function countUsage(draft: Draft, increment: UsageIncrement): void {
  const { usage } = draft.head
  const { scope, source: _source, uncounted, costUsd: _costUsd, estimatedUsd: _estimated, ...tokens } = increment
  const lastStep: UsageMetadata = scope === 'own' ? tokens : usage.lastStep
  const totals = uncounted === true ? usage[scope] : addUsage(usage[scope], increment)
  setHead(draft, 'usage', { ...usage, lastStep, [scope]: totals })
}

/** Keeps an answer until the same is asked again in this run. Several answers to one question keep their order. */
export function keepAnswer(draft: Draft, hash: string, answer: Answer): void {
  changeRunEntry(draft, 'kept', hash, (kept) => kept.set(hash, [...(kept.get(hash) ?? []), answer]))
}

/** Uses up the oldest kept answer to the question that is asked again. */
export function useKept(draft: Draft, asked: string | undefined): void {
  const answers = asked === undefined ? undefined : draft.head.run?.kept?.get(asked)
  if (asked === undefined || answers === undefined) return
  const left = answers.slice(1)
  changeRunEntry(draft, 'kept', asked, (kept) => (left.length === 0 ? kept.delete(asked) : kept.set(asked, left)))
}
