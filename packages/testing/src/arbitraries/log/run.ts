import type { CallOutcome, FinishReason, UsageIncrement } from '@inspan/protocol'
import type { RunOutcome } from '@inspan/protocol/log'
import { endCall, openMessage, seal, WHOLE, type GeneratedCall, type OpenMessage } from './open-message.ts'
import type { LogWriter, OpenRun } from './writer.ts'

const AGENTS = ['native', 'claude-code', 'codex'] as const

export function ensureRun(log: LogWriter, pick = 0): OpenRun {
  if (log.run === null) {
    const runId = log.newId('r')
    const agentId = AGENTS[pick % AGENTS.length] ?? AGENTS[0]
    log.run = { runId, agentId, turnId: null, step: -1, isStepOpen: false, attempt: 1, isParked: false }
    log.append({ type: 'run.started', runId, agentId, rules: log.keep.rules })
  }
  if (log.run.isParked) resumeRun(log, log.run, 'answer')
  return log.run
}

export function resumeRun(log: LogWriter, run: OpenRun, reason: 'crash' | 'answer' | 'takeover'): void {
  run.isParked = false
  run.attempt += 1
  log.append({ type: 'run.resumed', runId: run.runId, attempt: run.attempt, reason })
}

function ensureTurn(log: LogWriter): OpenRun {
  const run = ensureRun(log)
  if (run.turnId === null) {
    run.turnId = log.newId('t')
    run.step = -1
    log.append({ type: 'turn.started', turnId: run.turnId, agentId: run.agentId })
    log.append({
      type: 'turn.process',
      turnId: run.turnId,
      process: { runTag: run.turnId, pid: 2 + log.seq, startTime: '1', bootId: 'b' },
    })
  }
  return run
}

export function startStep(log: LogWriter): void {
  const run = ensureTurn(log)
  endMessages(log, 'ok')
  endStep(log, 'stop')
  run.step += 1
  run.isStepOpen = true
  log.append({ type: 'step.started', stepIndex: run.step })
  log.markBoundary()
}

/** Returns the message the agent is writing. Starts the run, turn and message if necessary. */
export function ensureMessage(log: LogWriter): OpenMessage {
  const run = ensureTurn(log)
  const open = log.messages.find((message) => message.parentToolCallId === null)
  if (open !== undefined) return open
  if (!run.isStepOpen) startStep(log)
  return openMessage(log, null)
}

export function endStep(log: LogWriter, finishReason: FinishReason, usage?: UsageIncrement): void {
  const { run } = log
  if (run === null || !run.isStepOpen) return
  run.isStepOpen = false
  log.append({ type: 'step.ended', stepIndex: run.step, finishReason, ...(usage === undefined ? {} : { usage }) })
}

/** Ends every open message and its open parts, those of subagents first. */
export function endMessages(log: LogWriter, outcome: CallOutcome): void {
  for (const message of log.messages.toReversed()) {
    for (const part of message.parts) seal(log, message, part, { ...WHOLE, cut: outcome !== 'ok' })
    for (const call of message.calls) {
      settleWait(log, call, outcome)
      endCall(log, message, call, { value: null, outcome, isApart: false })
    }
    log.messages.splice(log.messages.indexOf(message), 1)
    log.append({
      type: 'message.ended',
      messageId: message.id,
      outcome: outcome === 'ok' ? 'done' : 'interrupted',
      ...(outcome === 'ok' ? { finishReason: message.calls.length === 0 ? 'stop' : 'tool-calls' } : {}),
    })
    log.markBoundary()
  }
}

function settleWait(log: LogWriter, call: GeneratedCall, outcome: CallOutcome): void {
  const { wait } = call
  if (wait === null || !log.waits.includes(wait)) return
  log.waits = log.waits.filter((other) => other !== wait)
  if (outcome === 'ok') {
    log.append({ type: 'wait.answered', waitId: wait.id, answer: { decision: 'approve' } }, { by: 'user' })
  } else {
    log.append({ type: 'wait.cancelled', waitId: wait.id, reason: 'abort' })
  }
}

export function endTurn(log: LogWriter, outcome: RunOutcome, increment?: UsageIncrement): void {
  const { run } = log
  if (run?.turnId == null) return
  endMessages(log, outcome === 'complete' ? 'ok' : 'aborted')
  const finishReason = outcome === 'complete' ? 'stop' : outcome === 'error' ? 'error' : 'other'
  endStep(log, finishReason)
  log.append({
    type: 'turn.ended',
    turnId: run.turnId,
    finishReason,
    outcome,
    ...(increment === undefined ? {} : { increment }),
  })
  run.turnId = null
}

export function endRun(log: LogWriter, outcome: RunOutcome): void {
  const { run } = log
  if (run === null) return
  if (run.isParked) resumeRun(log, run, 'answer')
  endTurn(log, outcome)
  closeRun(log, run, outcome)
}

/** The process died and the run could not be resumed: open parts stay as they are, only the run ends. */
export function abandonRun(log: LogWriter): void {
  const { run } = log
  if (run === null) return
  for (const message of log.messages) for (const call of message.calls) settleWait(log, call, 'aborted')
  log.messages.length = 0
  closeRun(log, run, 'interrupted')
}

function closeRun(log: LogWriter, run: OpenRun, outcome: RunOutcome): void {
  const error = { name: 'Error', message: 'The model could not be reached.' }
  log.append({ type: 'run.ended', runId: run.runId, outcome, ...(outcome === 'error' ? { error } : {}) })
  log.run = null
  log.markBoundary()
}
