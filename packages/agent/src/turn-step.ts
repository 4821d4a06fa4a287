import type { FinishReason, JsonValue, StoredMessage, ToolCallInfo, UsageMetadata } from '@inspan/protocol'

/** The result of one step of a turn. */
export interface TurnStep {
  readonly stepIndex: number
  readonly text: string
  readonly toolCalls: readonly ToolCallInfo[]
  readonly toolResults: readonly StepToolResult[]
  readonly finishReason: FinishReason
  readonly usage: UsageMetadata
}

export interface StepToolResult {
  readonly toolCallId: string
  readonly toolName: string
  readonly result: JsonValue
  readonly isError: boolean
}

/** Called after a step with tool calls, before the next step. */
export type StopCondition = (turn: { readonly steps: readonly TurnStep[] }) => boolean | Promise<boolean>

/** Stops after `count` steps. */
export function stepCountIs(count: number): StopCondition {
  return ({ steps }) => steps.length >= count
}

/** Stops when the last step has called the tool. */
export function hasToolCall(toolName: string): StopCondition {
  return ({ steps }) => steps.at(-1)?.toolCalls.some((call) => call.toolName === toolName) ?? false
}

/** Returns a step as an earlier process recorded it. */
export function recordedStep(message: StoredMessage): TurnStep {
  // Calls the provider carried out itself were never ordered from us.
  const parts = message.parts.filter((part) => part.meta?.['providerExecuted'] !== true)
  const toolCalls = parts.flatMap((part) =>
    part.type === 'tool-call' ? [{ toolCallId: part.toolCallId, toolName: part.toolName, args: part.args }] : [],
  )
  const toolResults = parts.flatMap((part) =>
    part.type === 'tool-result' && part.state !== 'open'
      ? [{ toolCallId: part.toolCallId, toolName: part.toolName, result: part.result, isError: part.isError === true }]
      : [],
  )
  return {
    stepIndex: message.step ?? 0,
    text: textOf(message),
    toolCalls,
    toolResults,
    // A message only has a finish reason once all its calls have results.
    finishReason: message.finishReason ?? (toolCalls.length > 0 ? 'tool-calls' : 'other'),
    usage: message.usage ?? {},
  }
}

export function textOf(message: StoredMessage): string {
  return message.parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('')
}
