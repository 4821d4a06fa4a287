import type { JsonObject } from '@inspan/protocol'
import { isRecord } from '../checks.ts'
import { newId } from '../ids.ts'
import { factsOfAnthropic } from '../request-facts.ts'
import type { ScriptedFinishReason } from '../script.ts'
import { errorMessage } from '../scripted-error.ts'
import type { Plan, PlannedPart, PlannedUsage } from '../timeline.ts'
import { defaultSignature, modelOf, namedEvent, refusesProviderExecuted } from './wire.ts'
import type { EventWriter, WireFormat } from './wire.ts'

const stopReasons: Readonly<Record<ScriptedFinishReason, string>> = {
  stop: 'end_turn',
  length: 'max_tokens',
  'tool-calls': 'tool_use',
  'content-filter': 'refusal',
  error: 'error',
  other: 'other',
}

const errorTypes: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  529: 'overloaded_error',
}

/** The Messages API of Anthropic. */
export const anthropic: WireFormat = {
  api: 'anthropic',
  facts: factsOfAnthropic,
  refuses(plan, streams) {
    const calls = plan.parts.filter((part) => part.kind === 'tool')
    if (calls.some((part) => part.call.custom === true)) return 'the Messages API has no free-form (custom) tools'
    if (!streams && calls.some((part) => parsedInput(part.whole) === undefined)) {
      return 'tool input that is no JSON object can only be streamed'
    }
    return refusesProviderExecuted(plan)
  },
  events,
  whole: (plan, body) => ({
    ...emptyMessage(body),
    content: plan.parts.map((part) => finishedBlock(part)),
    stop_reason: stopReasonOf(plan),
    usage: usageOf(plan.usage, plan.usage.output),
  }),
  errorBody: (error, status) => ({
    type: 'error',
    error: {
      type: error.type ?? errorTypes[status] ?? (status < 500 ? 'invalid_request_error' : 'api_error'),
      message: errorMessage(error, status),
    },
  }),
}

function events(plan: Plan, body: JsonObject): EventWriter {
  return {
    begin: () =>
      namedEvent('message_start', {
        type: 'message_start',
        message: { ...emptyMessage(body), usage: usageOf(plan.usage, Math.min(1, plan.usage.output)) },
      }) + namedEvent('ping', { type: 'ping' }),
    open: (part) =>
      namedEvent('content_block_start', {
        type: 'content_block_start',
        index: part.index,
        content_block: emptyBlock(part),
      }),
    delta: (part, delta) => blockDelta(part, deltaOf(part, delta)),
    close: (part) =>
      (part.kind === 'reasoning'
        ? blockDelta(part, { type: 'signature_delta', signature: part.signature ?? defaultSignature })
        : '') + namedEvent('content_block_stop', { type: 'content_block_stop', index: part.index }),
    finish: () =>
      namedEvent('message_delta', {
        type: 'message_delta',
        delta: { stop_reason: stopReasonOf(plan), stop_sequence: null },
        usage: usageOf(plan.usage, plan.usage.output),
      }) + namedEvent('message_stop', { type: 'message_stop' }),
    fail: (error) =>
      namedEvent('error', {
        type: 'error',
        error: { type: error.type ?? 'api_error', message: error.message ?? 'Scripted stream error' },
      }),
  }
}

function emptyMessage(body: JsonObject): JsonObject {
  return {
    id: newId('msg'),
    type: 'message',
    role: 'assistant',
    model: modelOf(body),
    content: [],
    stop_reason: null,
    stop_sequence: null,
  }
}

function emptyBlock(part: PlannedPart): JsonObject {
  if (part.kind === 'text') return { type: 'text', text: '' }
  if (part.kind === 'reasoning') return { type: 'thinking', thinking: '', signature: '' }
  if (part.kind === 'raw') return part.raw
  return { type: 'tool_use', id: part.id, name: part.call.name, input: {} }
}

function finishedBlock(part: PlannedPart): JsonObject {
  if (part.kind === 'text') return { type: 'text', text: part.whole }
  if (part.kind === 'reasoning') {
    return { type: 'thinking', thinking: part.whole, signature: part.signature ?? defaultSignature }
  }
  if (part.kind === 'raw') return part.raw
  return { type: 'tool_use', id: part.id, name: part.call.name, input: parsedInput(part.whole) ?? {} }
}

function parsedInput(text: string): JsonObject | undefined {
  try {
    const input: unknown = JSON.parse(text)
    return isRecord(input) ? (input as JsonObject) : undefined
  } catch {
    return undefined
  }
}

function deltaOf(part: PlannedPart, delta: string): JsonObject {
  if (part.kind === 'text') return { type: 'text_delta', text: delta }
  if (part.kind === 'reasoning') return { type: 'thinking_delta', thinking: delta }
  return { type: 'input_json_delta', partial_json: delta }
}

function blockDelta(part: PlannedPart, delta: JsonObject): string {
  return namedEvent('content_block_delta', { type: 'content_block_delta', index: part.index, delta })
}

function stopReasonOf(plan: Plan): string {
  return plan.stopReason ?? stopReasons[plan.finishReason]
}

function usageOf(usage: PlannedUsage, output: number): JsonObject {
  return {
    input_tokens: usage.input - usage.cached - usage.cacheWrite,
    cache_creation_input_tokens: usage.cacheWrite,
    cache_read_input_tokens: usage.cached,
    output_tokens: output,
    output_tokens_details: { thinking_tokens: usage.reasoning },
  }
}
