import type { FinishReason, JsonObject, JsonValue } from '@inspan/protocol'
import type { Mutable } from '../kit/event-parts.ts'
import { asArray, asInteger, asObject, asText, firstInteger, NO_FIELDS } from '../kit/fields.ts'
import type { ReportedOutcome } from '../kit/tool-table.ts'
import type { AcpHabits } from './habits.ts'
import type { AcpToolCall } from './tool-call.ts'

/** The protocol's JSON-RPC error code for "log in first". */
const AUTH_REQUIRED = -32000

/** Returns how a call ended. A completed command may still have failed: only its exit code tells. */
export function callOutcome(call: AcpToolCall, habits: AcpHabits): ReportedOutcome {
  const own = habits.outcome?.(call)
  if (own !== undefined) return own
  const exitCode = firstInteger(asObject(call.output) ?? NO_FIELDS, 'exit_code', 'exitCode')
  const isSuccess = successOf(call, exitCode)
  const outcome: Mutable<ReportedOutcome> = { result: resultOf(call) }
  if (isSuccess !== undefined) outcome.isSuccess = isSuccess
  if (exitCode !== undefined) outcome.exitCode = exitCode
  return outcome
}

export function resultOf(call: AcpToolCall): JsonValue {
  return call.output ?? call.text ?? null
}

function successOf({ status, kind }: AcpToolCall, exitCode: number | undefined): boolean | undefined {
  if (status !== 'completed') return false
  if (exitCode !== undefined) return exitCode === 0
  return kind === 'execute' ? undefined : true
}

export function finishReasonOf(stopReason: JsonValue | undefined): FinishReason {
  switch (stopReason) {
    case 'end_turn':
      return 'stop'
    case 'max_tokens':
      return 'length'
    case 'refusal':
      return 'content-filter'
    default:
      return 'other'
  }
}

export interface RpcFailure {
  readonly message: string
  readonly code: string
}

/** Returns the message of an error, with advice if there is any. */
export function failureOf(error: JsonObject, logins: readonly string[]): RpcFailure {
  const code = asInteger(error['code'])
  const message = detailed(asText(error['message']) ?? 'The agent failed without saying why.', error['data'])
  if (code !== AUTH_REQUIRED) return { message, code: code === undefined ? 'error' : String(code) }
  const ways = logins.length === 0 ? 'Log in with the program itself, or set its key' : logins.join('; or: ')
  return { message: `${message}. To go on: ${ways}.`, code: 'auth-required' }
}

/** Adds the data of an error, which often tells what really happened. */
function detailed(message: string, data: JsonValue | undefined): string {
  const fields = asObject(data) ?? NO_FIELDS
  const more = asText(data) ?? asText(fields['message']) ?? asText(fields['details'])
  return more === undefined || message.includes(more) ? message : `${message}: ${more}`
}

/** Returns the ways to log in that an agent offers when it is greeted. */
export function loginsOf(result: JsonObject): readonly string[] {
  return (asArray(result['authMethods']) ?? []).flatMap((item) => {
    const method = asObject(item) ?? NO_FIELDS
    const way = asText(method['description']) ?? asText(method['name'])
    return way === undefined ? [] : [way]
  })
}
