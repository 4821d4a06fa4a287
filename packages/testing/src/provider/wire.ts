import type { JsonObject, JsonValue } from '@inspan/protocol'
import type { RequestFacts } from '../request-facts.ts'
import type { ScriptedError, ScriptedStreamError } from '../script.ts'
import type { Plan, PlannedPart } from '../timeline.ts'

/** One of the formats that providers use. Everything else about the server is the same for all of them. */
export interface WireFormat {
  readonly api: 'anthropic' | 'responses' | 'chat'
  facts(body: Record<string, unknown>): RequestFacts
  /** Returns why this format cannot express the answer, as a stream or as one document; undefined if it can. */
  refuses(plan: Plan, streams: boolean): string | undefined
  /** The answer as a stream of server-sent events. */
  events(plan: Plan, body: JsonObject): EventWriter
  /** The answer as one JSON document. */
  whole(plan: Plan, body: JsonObject): JsonObject
  errorBody(error: ScriptedError, status: number): JsonValue
}

/** Every method returns the text of the events to send. */
export interface EventWriter {
  begin(): string
  open(part: PlannedPart): string
  delta(part: PlannedPart, delta: string): string
  close(part: PlannedPart): string
  finish(): string
  fail(error: ScriptedStreamError): string
}

export function namedEvent(name: string, data: JsonObject): string {
  return `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`
}

export function modelOf(body: JsonObject): string {
  return typeof body['model'] === 'string' ? body['model'] : 'scripted-model'
}

/** Sent when the script has no signature, because clients drop reasoning without one. */
export const defaultSignature = 'c2NyaXB0ZWQ='

export function refusesProviderExecuted(plan: Plan): string | undefined {
  return plan.parts.some((part) => part.kind === 'tool' && part.call.providerExecuted === true)
    ? 'a tool call with providerExecuted is only for scriptedModel; use a raw part with the block or item of the format'
    : undefined
}
