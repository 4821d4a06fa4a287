import type {
  LanguageModelV4Content,
  LanguageModelV4FinishReason,
  LanguageModelV4StreamPart,
  LanguageModelV4ToolCall,
  LanguageModelV4ToolResult,
  LanguageModelV4Usage,
  SharedV4ProviderMetadata,
} from '@ai-sdk/provider'
import type { ScriptedMetadata } from './script.ts'
import { stepsOf } from './timeline.ts'
import type { Plan, PlannedPart, PlannedToolCall } from './timeline.ts'

/** Returns the stream parts of an answer up to its ending. If the answer finishes, that includes the `finish` part. */
export function streamPartsOf(plan: Plan, provider: string): LanguageModelV4StreamPart[] {
  const out: LanguageModelV4StreamPart[] = [{ type: 'stream-start', warnings: [] }]
  for (const { at, part, delta } of stepsOf(plan)) {
    if (at === 'delta') out.push(deltaPart(part, delta))
    else if (at === 'open') open(part, out)
    else close(part, out, provider)
  }
  if (plan.ending.kind === 'finish') {
    out.push({ type: 'finish', usage: usageOf(plan), finishReason: finishReasonOf(plan) })
  }
  return out
}

export function contentOf(plan: Plan, provider: string): LanguageModelV4Content[] {
  return plan.parts.flatMap((part): LanguageModelV4Content[] => {
    if (part.kind === 'text') return [{ type: 'text', text: part.whole, ...metadata(part.providerMetadata) }]
    if (part.kind === 'reasoning') {
      return [{ type: 'reasoning', text: part.whole, ...metadata(reasoningMetadata(part, provider)) }]
    }
    if (part.kind === 'raw') return [part.raw as LanguageModelV4Content]
    return [toolCallOf(part), ...toolResultOf(part)]
  })
}

export function usageOf({ usage }: Plan): LanguageModelV4Usage {
  return {
    inputTokens: {
      total: usage.input,
      noCache: usage.input - usage.cached - usage.cacheWrite,
      cacheRead: usage.cached,
      cacheWrite: usage.cacheWrite,
    },
    outputTokens: { total: usage.output, text: usage.output - usage.reasoning, reasoning: usage.reasoning },
  }
}

export function finishReasonOf(plan: Plan): LanguageModelV4FinishReason {
  return { unified: plan.finishReason, raw: plan.stopReason }
}

function open(part: PlannedPart, out: LanguageModelV4StreamPart[]): void {
  const id = String(part.index)
  if (part.kind === 'text') out.push({ type: 'text-start', id })
  else if (part.kind === 'reasoning') out.push({ type: 'reasoning-start', id })
  else if (part.kind === 'raw') out.push(part.raw as LanguageModelV4StreamPart)
  else {
    out.push({
      type: 'tool-input-start',
      id: part.id,
      toolName: part.call.name,
      ...(part.call.custom === true && { inputEncoding: 'text' as const }),
      ...(part.call.providerExecuted === true && { providerExecuted: true }),
    })
  }
}

function deltaPart(part: PlannedPart, delta: string): LanguageModelV4StreamPart {
  if (part.kind === 'text') return { type: 'text-delta', id: String(part.index), delta }
  if (part.kind === 'tool') return { type: 'tool-input-delta', id: part.id, delta }
  return { type: 'reasoning-delta', id: String(part.index), delta }
}

function close(part: PlannedPart, out: LanguageModelV4StreamPart[], provider: string): void {
  const id = String(part.index)
  if (part.kind === 'text') out.push({ type: 'text-end', id, ...metadata(part.providerMetadata) })
  else if (part.kind === 'reasoning') {
    out.push({ type: 'reasoning-end', id, ...metadata(reasoningMetadata(part, provider)) })
  } else if (part.kind === 'tool') {
    out.push({ type: 'tool-input-end', id: part.id }, toolCallOf(part), ...toolResultOf(part))
  }
}

function toolCallOf(part: PlannedToolCall): LanguageModelV4ToolCall {
  return {
    type: 'tool-call',
    toolCallId: part.id,
    toolName: part.call.name,
    input: part.call.custom === true ? JSON.stringify(part.whole) : part.whole,
    ...(part.call.providerExecuted === true && { providerExecuted: true }),
    ...metadata(part.providerMetadata),
  }
}

function toolResultOf(part: PlannedToolCall): LanguageModelV4ToolResult[] {
  const { providerExecuted, result, isError, name } = part.call
  if (providerExecuted !== true || result === undefined) return []
  return [
    {
      type: 'tool-result',
      toolCallId: part.id,
      toolName: name,
      result: result as LanguageModelV4ToolResult['result'],
      ...(isError === true && { isError: true }),
    },
  ]
}

function reasoningMetadata(
  part: Extract<PlannedPart, { kind: 'reasoning' }>,
  provider: string,
): ScriptedMetadata | undefined {
  if (part.providerMetadata !== undefined || part.signature === undefined) return part.providerMetadata
  return { [provider]: { signature: part.signature } }
}

function metadata(given: ScriptedMetadata | undefined): { providerMetadata?: SharedV4ProviderMetadata } {
  return given === undefined ? {} : { providerMetadata: given }
}
