import {
  toErrorData,
  type CallOutcome,
  type ErrorData,
  type Part,
  type ThreadMessage,
  type ToolCallPart,
  type UsageMetadata,
} from '@inspan/protocol'
import type { RecordBody, RunOutcome, RunState } from '@inspan/protocol/log'
import { runEnd } from './active-run.ts'
import type { RecordOrigin } from '../log/record-body.ts'
import type { CommitExtras, ThreadLog } from '../log/thread-log.ts'

export interface RunClosing {
  /** Records to write before the end of the run. */
  readonly before?: readonly RecordBody[]
  readonly extras?: CommitExtras
  readonly isForeign?: boolean
  readonly usage?: UsageMetadata | undefined
  /** The error of a run that failed. */
  readonly error?: ErrorData
}

/**
 * Closes an open run that cannot go on: seals its open parts as interrupted, answers calls without a result as in doubt
 * (as aborted if they had certainly not begun), and ends the turn with the usage that is known. Returns the run's id,
 * or `null` if no run was open.
 */
export async function closeInterruptedRun(
  log: ThreadLog,
  outcome: RunOutcome = 'interrupted',
  { before = [], error, extras, isForeign = false, usage }: RunClosing = {},
): Promise<string | null> {
  const { run, waits } = log.state.head
  if (run === null) return null
  const cancelled = [...waits]
    .filter((wait) => wait.run === run.runId)
    .map((wait): RecordBody => ({ type: 'wait.cancelled', waitId: wait.id, reason: 'abort' }))
  const ended = runEnd(run.runId, outcome, error, undefined)
  const bodies = [...before, ...turnEnd(log, outcome, isForeign, usage), ...cancelled, ended]
  await log.commit(bodies, originOf(run), extras)
  return run.runId
}

/** Closes the turn of a program that is gone. Its run and waits stay open: an answer continues it in a new turn. */
export async function parkWithoutTurn(log: ThreadLog, usage?: UsageMetadata): Promise<void> {
  const { run, waits } = log.state.head
  if (run === null) return
  const parked: RecordBody = { type: 'run.parked', runId: run.runId, waitIds: [...waits.keys()] }
  await log.commit([...turnEnd(log, 'interrupted', true, usage), parked], originOf(run))
}

/** Closes the turn of a program that is gone, in a run whose floor is handed to another agent. */
export async function closeTurn(log: ThreadLog, usage?: UsageMetadata): Promise<void> {
  const { run } = log.state.head
  if (run !== null) await log.commit(turnEnd(log, 'interrupted', true, usage), originOf(run))
}

/** Parks the run and leaves its turn open. The record has no run as its origin: until then nobody worked in the run. */
export async function parkAsItStands(log: ThreadLog): Promise<void> {
  const { run, waits } = log.state.head
  if (run === null) return
  await log.commit([{ type: 'run.parked', runId: run.runId, waitIds: [...waits.keys()] }])
}

export function unaskedNote(agentId: string, error: unknown): RecordBody {
  const { message } = toErrorData(error)
  const text = `${agentId} could not be asked what it can do, so its run was not taken up: ${message}`
  return { type: 'note', kind: 'warning', text, data: { agentId } }
}

function turnEnd(log: ThreadLog, outcome: RunOutcome, isForeign: boolean, usage?: UsageMetadata): RecordBody[] {
  const { head, messages } = log.state
  const { run } = head
  if (run === null) return []
  const bodies: RecordBody[] = []
  for (const message of messages) {
    if (message.state === 'open') bodies.push(...closeMessage(message, { isForeign }))
  }
  if (run.isStepOpen) bodies.push({ type: 'step.ended', stepIndex: run.step ?? 0, finishReason: 'error' })
  if (run.turnId !== null) {
    const used = usage === undefined ? {} : { usage }
    bodies.push({ type: 'turn.ended', turnId: run.turnId, finishReason: 'error', outcome, ...used })
  }
  return bodies
}

function originOf(run: RunState): RecordOrigin {
  return { run: run.runId, ...(run.turnId === null ? {} : { turn: run.turnId }) }
}

const CUT_OFF: ErrorData = { name: 'Interrupted', message: 'The process ended while the model was answering.' }

/**
 * Closes a step that a crash cut off as a failed attempt: its text stays visible but leaves the model's context, and
 * its calls were never carried out. The run continues with a new step.
 */
export async function closeFailedStep(log: ThreadLog): Promise<void> {
  const { head, messages } = log.state
  const { run } = head
  if (run === null || !run.isStepOpen) return
  const bodies: RecordBody[] = messages
    .toArray()
    .filter((message) => message.state === 'open' && message.step === run.step)
    .flatMap((message) => closeMessage(message, { error: CUT_OFF }))
  bodies.push({ type: 'step.ended', stepIndex: run.step ?? 0, finishReason: 'error', error: CUT_OFF })
  await log.commit(bodies, { run: run.runId, ...(run.turnId === null ? {} : { turn: run.turnId }) })
}

interface Closing {
  readonly error?: ErrorData
  readonly isForeign?: boolean
}

/**
 * Returns `in-doubt` for a call that may have begun, else `aborted`. Foreign programs start their tools without delivery
 * us, unless they are waiting for an answer, and so do providers.
 */
function outcomeOf({ call, meta }: ToolCallPart, isForeign: boolean): CallOutcome {
  const { interrupted, stage } = call
  const isOthers = isForeign || meta?.['providerExecuted'] === true
  const mayHaveBegun = stage === 'started' || interrupted === true || (isOthers && stage === 'ordered')
  return mayHaveBegun ? 'in-doubt' : 'aborted'
}

function closeMessage(message: ThreadMessage, { error, isForeign = false }: Closing): RecordBody[] {
  const bodies: RecordBody[] = []
  let next = message.parts.length
  const open = new Map<string, Part & { type: 'tool-result' }>()
  for (const part of message.parts) {
    if (part.type === 'tool-result' && part.state === 'open') open.set(part.toolCallId, part)
    const sealed = sealInterrupted(message.id, part)
    if (sealed !== undefined) bodies.push(sealed)
  }
  for (const part of message.parts) {
    // A part whose input was cut off never became a call, so it gets no result.
    if (part.type !== 'tool-call' || part.call.stage === 'ended' || part.state !== undefined) continue
    const outcome = outcomeOf(part, isForeign)
    bodies.push({
      type: 'tool-result',
      messageId: message.id,
      partId: open.get(part.toolCallId)?.id ?? String(next++),
      toolCallId: part.toolCallId,
      toolName: part.toolName,
      result:
        outcome === 'in-doubt'
          ? 'The call was interrupted; its outcome is unknown. Check before doing it again.'
          : 'The call was not carried out: the run was interrupted before it began.',
      isError: true,
      call: { messageId: message.id, partId: part.id },
      outcome,
      meta: { synthetic: true },
    })
  }
  bodies.push({
    type: 'message.ended',
    messageId: message.id,
    outcome: 'interrupted',
    ...(error === undefined ? {} : { error }),
  })
  return bodies
}

function sealInterrupted(messageId: string, part: Part): RecordBody | undefined {
  if (part.state !== 'open') return undefined
  const address = { messageId, partId: part.id }
  switch (part.type) {
    case 'text':
      return { type: 'text-delta', ...address, text: part.text, meta: { interrupted: true } }
    case 'reasoning':
      return { type: 'reasoning-delta', ...address, text: part.text, meta: { interrupted: true } }
    case 'tool-call':
      return {
        type: 'tool-call',
        ...address,
        toolCallId: part.toolCallId,
        toolName: part.toolName,
        args: {},
        meta: { interrupted: true, invalidInput: part.inputText ?? '' },
      }
    case 'tool-result':
    case 'image':
    case 'file':
    case 'signal':
      return undefined
  }
}
