import type { ElicitResult, InputRequiredResult, InputResponses } from '@modelcontextprotocol/client'
import { InspanError, type Answer, type JsonObject } from '@inspan/protocol'
import type { ToolSuspension } from '@inspan/protocol/driver'
import { sanitised } from './server-error.ts'

/** The engine keeps at most this much for a tool. */
const MAX_STATE = 64 * 1024

/** Something a server wants to know from a person. */
export interface ServerQuestion {
  readonly message: string
  /** JSON Schema of the answer; absent when the person is sent to `url` instead. */
  readonly schema?: JsonObject
  readonly url?: string
}

/** What a call needs to be sent again with its answers. */
export interface RetryState {
  readonly requestState?: string
  readonly keys: readonly string[]
}

export function questionOf(params: unknown): ServerQuestion {
  const { message, requestedSchema, url } = params as { message?: unknown; requestedSchema?: unknown; url?: unknown }
  return {
    message: sanitised(typeof message === 'string' ? message : ''),
    ...(isObject(requestedSchema) ? { schema: requestedSchema } : {}),
    ...(typeof url === 'string' ? { url: webAddress(url) } : {}),
  }
}

/** Throws if the server asks for what we do not offer: a model's answer, or our folders. */
export function suspensionOf(
  server: string,
  { inputRequests = {}, requestState }: InputRequiredResult,
): ToolSuspension {
  const entries = Object.entries(inputRequests)
  const other = entries.find(([, { method }]) => method !== 'elicitation/create')
  if (other !== undefined) {
    throw new InspanError('unsupported', `MCP server "${server}" asked for "${other[1].method}", which is not offered.`)
  }
  const questions = entries.map(([key, { params }]) => [key, questionOf(params)] as const)
  const retry: RetryState = {
    keys: questions.map(([key]) => key),
    ...(requestState === undefined ? {} : { requestState }),
  }
  const state = JSON.stringify(retry)
  if (state.length > MAX_STATE) {
    throw new InspanError('io', `MCP server "${server}" wants more kept for its question than ${MAX_STATE} bytes.`)
  }
  const asked = suspensionFor(server, Object.fromEntries(questions))
  return { suspend: { ...asked.suspend, state } }
}

/** Asks a person. A single question is answered by its value, several by an object with a value for each. */
export function suspensionFor(server: string, questions: Readonly<Record<string, ServerQuestion>>): ToolSuspension {
  const all = Object.entries(questions)
  const [first] = all
  const schemas = all.map(([key, { schema }]): [string, JsonObject] => [key, schema ?? {}])
  const schema =
    all.length === 1
      ? first?.[1].schema
      : { type: 'object', properties: Object.fromEntries(schemas), required: Object.keys(questions) }
  return {
    suspend: {
      kind: 'question',
      description: `${server} asks: ${all.map(([, { message }]) => message).join(' · ')}`,
      payload: { server, questions: all.map(([key, question]) => ({ key, ...question })) },
      ...(schema === undefined ? {} : { answerSchema: JSON.stringify(schema) }),
    },
  }
}

export function retryStateOf(state: string): RetryState {
  return JSON.parse(state) as RetryState
}

/** Returns the answers as the server gets them with the repeated call. */
export function responsesOf({ keys }: RetryState, answer: Answer): InputResponses {
  const [only] = keys
  if (keys.length === 1 && only !== undefined) return { [only]: elicitResult(answer) }
  const values = isObject(answer.value) ? answer.value : {}
  return Object.fromEntries(
    keys.map((key) => [
      key,
      elicitResult(answer.decision === 'decline' ? answer : { decision: 'answer', value: values[key] ?? {} }),
    ]),
  )
}

export function elicitResult({ decision, value }: Answer): ElicitResult {
  if (decision === 'decline') return { action: 'decline' }
  return isObject(value)
    ? { action: 'accept', content: value as ElicitResult['content'] & object }
    : { action: 'accept' }
}

/** A person may follow it, so it leads to the web and nowhere else. */
function webAddress(url: string): string {
  const parsed = URL.parse(url)
  if (parsed !== null && /^https?:$/.test(parsed.protocol)) return parsed.href
  throw new InspanError('io', 'A server asked to open an address that is not on the web.')
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
