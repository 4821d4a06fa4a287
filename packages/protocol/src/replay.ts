import type { AgentEvent, ToolResultEvent } from './agent-event.ts'
import type { PartAddress, RecordedToolResult, StepEndedRecord, WaitOpenedRecord } from './control-record.ts'
import type { LogRecord } from './record.ts'
import type { UsageMetadata } from './usage.ts'

/**
 * Returns the agent events of a record of a stored log. The batches of a sealed part are gone, so a sealed
 * text gives one delta with the whole text. A reader who has seen batches live uses `createReplay` instead.
 */
export function agentEventsOf(record: LogRecord): readonly AgentEvent[] {
  const { body } = record
  switch (body.type) {
    case 'turn.started':
      return [{ type: 'start' }]
    case 'turn.ended':
      return [
        {
          type: 'finish',
          finishReason: body.finishReason,
          ...(body.usage === undefined ? {} : { usage: body.usage }),
        },
      ]
    case 'step.started':
      return [{ type: 'step-start', stepIndex: body.stepIndex }]
    case 'step.ended':
      return [stepFinish(body)]
    case 'wait.opened':
      return approvalRequest(body)
    case 'batch':
      return [body.event]
    case 'text-delta':
    case 'reasoning-delta':
      return body.text === '' ? [] : [body]
    case 'tool-result':
      return [toolResult(body)]
    case 'file':
    case 'tool-call':
    case 'error':
      return [body]
    default:
      return []
  }
}

/**
 * Creates a function for one reader who follows a log. It returns the events of each next record, and of a sealed text
 * only what the batches did not show. So the texts add up to the same whether the reader saw all batches, some or none.
 */
export function createReplay(): (record: LogRecord) => readonly AgentEvent[] {
  /** The text shown so far of parts that are not sealed yet. */
  const shown = new Map<string, string>()
  return (record) => {
    const { body } = record
    if (body.type === 'run.ended') shown.clear()
    if (body.type === 'batch' && (body.event.type === 'text-delta' || body.event.type === 'reasoning-delta')) {
      const key = keyOf(body.event)
      shown.set(key, (shown.get(key) ?? '') + body.event.text)
    } else if (body.type === 'text-delta' || body.type === 'reasoning-delta') {
      const before = shown.get(keyOf(body)) ?? ''
      shown.delete(keyOf(body))
      // Sealing may have redacted the text. What was shown cannot be undone, so the rest is unknown.
      const rest = body.text.startsWith(before) ? body.text.slice(before.length) : ''
      return rest === '' ? [] : [{ ...body, text: rest }]
    }
    return agentEventsOf(record)
  }
}

function keyOf(address: PartAddress): string {
  return `${address.messageId}/${address.partId}`
}

/** The error of a failed attempt is no event, because the turn continues with the next attempt. */
function stepFinish(body: StepEndedRecord): AgentEvent {
  return {
    type: 'step-finish',
    stepIndex: body.stepIndex,
    finishReason: body.finishReason,
    ...(body.usage === undefined ? {} : { usage: tokensOf(body.usage) }),
  }
}

function tokensOf(usage: NonNullable<StepEndedRecord['usage']>): UsageMetadata {
  const {
    costUsd: _cost,
    estimatedUsd: _estimated,
    source: _source,
    scope: _scope,
    uncounted: _uncounted,
    ...tokens
  } = usage
  return tokens
}

/**
 * Only the approval of a tool call is an agent event. Questions and plans are waits of the control layer, and a call
 * that is repeated after it was answered asks nobody.
 */
function approvalRequest(body: WaitOpenedRecord): readonly AgentEvent[] {
  const { kind, subject } = body.wait
  const { toolCallId, toolName, args } = subject
  if (kind !== 'approval' || body.answered === true || toolCallId === undefined || toolName === undefined) return []
  return [{ type: 'tool-approval-request', toolCall: { toolCallId, toolName, args: args ?? {} }, ...body.call }]
}

function toolResult(body: RecordedToolResult): ToolResultEvent {
  const { call: _call, outcome: _outcome, resultRef, ...event } = body
  return { ...event, result: event.result ?? resultRef?.preview ?? null }
}
