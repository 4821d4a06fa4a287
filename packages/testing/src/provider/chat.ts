import type { JsonObject } from '@inspan/protocol'
import { newId } from '../ids.ts'
import { factsOfChat } from '../request-facts.ts'
import type { ScriptedFinishReason } from '../script.ts'
import type { Plan, PlannedPart, PlannedToolCall, PlannedUsage } from '../timeline.ts'
import { openaiError } from './openai-error.ts'
import { modelOf, refusesProviderExecuted } from './wire.ts'
import type { EventWriter, WireFormat } from './wire.ts'

const finishReasons: Readonly<Record<ScriptedFinishReason, string>> = {
  stop: 'stop',
  length: 'length',
  'tool-calls': 'tool_calls',
  'content-filter': 'content_filter',
  error: 'error',
  other: 'other',
}

/** Chat completions of OpenAI, with `reasoning_content` as the compatible servers send it. */
export const chat: WireFormat = {
  api: 'chat',
  facts: factsOfChat,
  refuses(plan) {
    const custom = plan.parts.some((part) => part.kind === 'tool' && part.call.custom === true)
    return custom ? 'free-form (custom) tools are played in the Responses format only' : refusesProviderExecuted(plan)
  },
  events,
  whole: (plan, body) => ({
    ...head(body, 'chat.completion'),
    choices: [{ index: 0, message: messageOf(plan), logprobs: null, finish_reason: finishReasonOf(plan) }],
    usage: usageOf(plan.usage),
  }),
  errorBody: openaiError,
}

function events(plan: Plan, body: JsonObject): EventWriter {
  const header = head(body, 'chat.completion.chunk')
  const toolIndex = new Map(toolCallsOf(plan).map((part, index) => [part.index, index]))
  const chunk = (delta: JsonObject, finish: string | null = null): string =>
    data({ ...header, choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }] })
  const toolChunk = (part: PlannedToolCall, call: JsonObject): string =>
    chunk({ tool_calls: [{ index: toolIndex.get(part.index) ?? 0, ...call }] })
  return {
    begin: () => chunk({ role: 'assistant', content: '' }),
    open(part) {
      if (part.kind === 'raw') return chunk(part.raw)
      if (part.kind !== 'tool') return ''
      return toolChunk(part, { id: part.id, type: 'function', function: { name: part.call.name, arguments: '' } })
    },
    delta(part, delta) {
      if (part.kind === 'tool') return toolChunk(part, { function: { arguments: delta } })
      return chunk(part.kind === 'text' ? { content: delta } : { reasoning_content: delta })
    },
    close: () => '',
    finish() {
      const options = body['stream_options']
      const wantsUsage = typeof options === 'object' && options !== null && 'include_usage' in options
      const usage = wantsUsage ? data({ ...header, choices: [], usage: usageOf(plan.usage) }) : ''
      return `${chunk({}, finishReasonOf(plan))}${usage}data: [DONE]\n\n`
    },
    fail: (error) =>
      data({
        error: {
          message: error.message ?? 'Scripted stream error',
          type: error.type ?? 'server_error',
          param: null,
          code: error.code ?? null,
        },
      }),
  }
}

function data(value: JsonObject): string {
  return `data: ${JSON.stringify(value)}\n\n`
}

function head(body: JsonObject, object: string): JsonObject {
  return { id: newId('chatcmpl'), object, created: Math.floor(Date.now() / 1000), model: modelOf(body) }
}

function messageOf(plan: Plan): JsonObject {
  const textOf = (kind: PlannedPart['kind']): string =>
    plan.parts
      .filter((part) => part.kind === kind)
      .map((part) => part.whole)
      .join('')
  const calls = toolCallsOf(plan).map((part) => ({
    id: part.id,
    type: 'function',
    function: { name: part.call.name, arguments: part.whole },
  }))
  const raw = plan.parts.filter((part) => part.kind === 'raw').map((part) => part.raw)
  const text = textOf('text')
  const reasoning = textOf('reasoning')
  return {
    role: 'assistant',
    content: text === '' && calls.length > 0 ? null : text,
    ...(reasoning !== '' && { reasoning_content: reasoning }),
    ...(calls.length > 0 && { tool_calls: calls }),
    ...Object.assign({}, ...raw),
  }
}

function toolCallsOf(plan: Plan): PlannedToolCall[] {
  return plan.parts.filter((part) => part.kind === 'tool')
}

function finishReasonOf(plan: Plan): string {
  return plan.stopReason ?? finishReasons[plan.finishReason]
}

function usageOf(usage: PlannedUsage): JsonObject {
  return {
    prompt_tokens: usage.input,
    completion_tokens: usage.output,
    total_tokens: usage.input + usage.output,
    prompt_tokens_details: { cached_tokens: usage.cached, cache_write_tokens: usage.cacheWrite },
    completion_tokens_details: { reasoning_tokens: usage.reasoning },
  }
}
