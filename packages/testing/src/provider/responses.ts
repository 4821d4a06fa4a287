import type { JsonObject } from '@inspan/protocol'
import { newId } from '../ids.ts'
import { factsOfResponses } from '../request-facts.ts'
import type { Plan, PlannedPart, PlannedUsage } from '../timeline.ts'
import { openaiError } from './openai-error.ts'
import { defaultSignature, modelOf, namedEvent, refusesProviderExecuted } from './wire.ts'
import type { EventWriter, WireFormat } from './wire.ts'

const idPrefixes = { text: 'msg', reasoning: 'rs', tool: 'fc', raw: 'item' } as const

const incompleteReasons: Readonly<Record<string, string>> = {
  length: 'max_output_tokens',
  'content-filter': 'content_filter',
  other: 'other',
}

/** The Responses API of OpenAI. */
export const responses: WireFormat = {
  api: 'responses',
  facts: factsOfResponses,
  refuses: refusesProviderExecuted,
  events,
  whole(plan, body) {
    const items = plan.parts.map((part) => finishedItem(part, newId(idPrefixes[part.kind])))
    return { ...emptyResponse(body), ...outcomeOf(plan).fields, output: items, usage: usageOf(plan.usage) }
  },
  errorBody: openaiError,
}

function events(plan: Plan, body: JsonObject): EventWriter {
  const response = emptyResponse(body)
  const itemIds = plan.parts.map((part) => newId(idPrefixes[part.kind]))
  const finished: JsonObject[] = []
  let sequence = 0

  const event = (type: string, fields: JsonObject): string => {
    const text = namedEvent(type, { type, sequence_number: sequence, ...fields })
    sequence += 1
    return text
  }
  const idOf = (part: PlannedPart): string => itemIds[part.index] ?? ''
  const place = (part: PlannedPart): JsonObject => ({ item_id: idOf(part), output_index: part.index })

  return {
    begin: () => event('response.created', { response }) + event('response.in_progress', { response }),
    open(part) {
      const item = part.kind === 'raw' ? part.raw : emptyItem(part, idOf(part))
      const added = event('response.output_item.added', { output_index: part.index, item })
      if (part.kind === 'text') {
        return added + event('response.content_part.added', { ...place(part), content_index: 0, part: outputText('') })
      }
      if (part.kind !== 'reasoning') return added
      const summary = { ...place(part), summary_index: 0, part: summaryText('') }
      return added + event('response.reasoning_summary_part.added', summary)
    },
    delta(part, delta) {
      if (part.kind === 'text') {
        return event('response.output_text.delta', { ...place(part), content_index: 0, delta, logprobs: [] })
      }
      if (part.kind === 'reasoning') {
        return event('response.reasoning_summary_text.delta', { ...place(part), summary_index: 0, delta })
      }
      const custom = part.kind === 'tool' && part.call.custom === true
      const type = custom ? 'response.custom_tool_call_input.delta' : 'response.function_call_arguments.delta'
      return event(type, { ...place(part), delta })
    },
    close(part) {
      const item = finishedItem(part, idOf(part))
      finished[part.index] = item
      return (
        closingEvents(part, place(part), event) + event('response.output_item.done', { output_index: part.index, item })
      )
    },
    finish() {
      const { type, fields } = outcomeOf(plan)
      return event(type, { response: { ...response, ...fields, output: finished, usage: usageOf(plan.usage) } })
    },
    fail: (error) =>
      event('response.failed', {
        response: {
          ...response,
          status: 'failed',
          error: { code: String(error.code ?? 'server_error'), message: error.message ?? 'Scripted stream error' },
        },
      }),
  }
}

function closingEvents(
  part: PlannedPart,
  place: JsonObject,
  event: (type: string, fields: JsonObject) => string,
): string {
  if (part.kind === 'text') {
    const content = { ...place, content_index: 0 }
    return (
      event('response.output_text.done', { ...content, text: part.whole, logprobs: [] }) +
      event('response.content_part.done', { ...content, part: outputText(part.whole) })
    )
  }
  if (part.kind === 'reasoning') {
    const summary = { ...place, summary_index: 0 }
    return (
      event('response.reasoning_summary_text.done', { ...summary, text: part.whole }) +
      event('response.reasoning_summary_part.done', { ...summary, part: summaryText(part.whole) })
    )
  }
  if (part.kind === 'raw') return ''
  return part.call.custom === true
    ? event('response.custom_tool_call_input.done', { ...place, input: part.whole })
    : event('response.function_call_arguments.done', { ...place, name: part.call.name, arguments: part.whole })
}

function emptyItem(part: Exclude<PlannedPart, { kind: 'raw' }>, id: string): JsonObject {
  return itemOf(part, id, '', 'in_progress')
}

function finishedItem(part: PlannedPart, id: string): JsonObject {
  return part.kind === 'raw' ? part.raw : itemOf(part, id, part.whole, 'completed')
}

function itemOf(part: Exclude<PlannedPart, { kind: 'raw' }>, id: string, whole: string, status: string): JsonObject {
  const begun = status === 'in_progress'
  if (part.kind === 'text') {
    const phase = part.phase === undefined ? {} : { phase: part.phase }
    return { id, type: 'message', status, role: 'assistant', content: begun ? [] : [outputText(whole)], ...phase }
  }
  if (part.kind === 'reasoning') {
    const encrypted = part.signature ?? defaultSignature
    return { id, type: 'reasoning', summary: begun ? [] : [summaryText(whole)], encrypted_content: encrypted }
  }
  const { name, namespace, custom } = part.call
  const named = { id, status, call_id: part.id, name, ...(namespace !== undefined && { namespace }) }
  return custom === true
    ? { ...named, type: 'custom_tool_call', input: whole }
    : { ...named, type: 'function_call', arguments: whole }
}

function outputText(text: string): JsonObject {
  return { type: 'output_text', text, annotations: [], logprobs: [] }
}

function summaryText(text: string): JsonObject {
  return { type: 'summary_text', text }
}

function outcomeOf(plan: Plan): { type: string; fields: JsonObject } {
  if (plan.finishReason === 'error') {
    const error = { code: plan.stopReason ?? 'server_error', message: 'Scripted failure' }
    return { type: 'response.failed', fields: { status: 'failed', error } }
  }
  const reason = plan.stopReason ?? incompleteReasons[plan.finishReason]
  if (reason === undefined) return { type: 'response.completed', fields: { status: 'completed' } }
  return { type: 'response.incomplete', fields: { status: 'incomplete', incomplete_details: { reason } } }
}

function emptyResponse(body: JsonObject): JsonObject {
  return {
    id: newId('resp'),
    object: 'response',
    created_at: Math.floor(Date.now() / 1000),
    status: 'in_progress',
    error: null,
    incomplete_details: null,
    instructions: null,
    metadata: {},
    model: modelOf(body),
    output: [],
    parallel_tool_calls: true,
    previous_response_id: null,
    store: false,
    tool_choice: 'auto',
    tools: [],
    usage: null,
  }
}

function usageOf(usage: PlannedUsage): JsonObject {
  return {
    input_tokens: usage.input,
    input_tokens_details: { cached_tokens: usage.cached, cache_write_tokens: usage.cacheWrite },
    output_tokens: usage.output,
    output_tokens_details: { reasoning_tokens: usage.reasoning },
    total_tokens: usage.input + usage.output,
  }
}
