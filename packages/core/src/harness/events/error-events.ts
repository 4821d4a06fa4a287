import { toError, type ErrorEvent, type JsonValue } from '@inspan/protocol'
import type { HarnessErrorEvent } from '@inspan/protocol/harness'
import { isObject } from '../tools/tool-input.ts'

/** Words that providers and programs use for failures that pass by themselves. */
const PASSING = /overload|rate.?limit|too.?many.?requests|server.?error|service.?unavailable|timeout|timed.?out/i
const BROKEN_LINE =
  /connection.?failed|stream.?disconnected|^(ECONN|ENOTFOUND|ETIMEDOUT|EPIPE|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_)/i

/** Returns the event for an error of a run. `retryable` is left out where nobody knows whether a retry may help. */
export function errorEvent({ code, error, meta }: ErrorEvent): HarnessErrorEvent {
  const { retryable = byCode(code ?? error.code), retryAfterMs } = retryOf(meta?.['retry'])
  return {
    type: 'error',
    error: toError(error),
    ...(code === undefined ? {} : { errorType: code }),
    ...(retryable === undefined ? {} : { retryable }),
    ...(retryAfterMs === undefined ? {} : { retryDelay: retryAfterMs }),
  }
}

/** Reads what an agent that calls models itself has found out about the failure. */
function retryOf(said: JsonValue | undefined): { readonly retryable?: boolean; readonly retryAfterMs?: number } {
  const { retryable, retryAfterMs } = isObject(said) ? said : {}
  return {
    ...(typeof retryable === 'boolean' ? { retryable } : {}),
    ...(typeof retryAfterMs === 'number' ? { retryAfterMs } : {}),
  }
}

/** Foreign programs give a status or a word, if anything. */
function byCode(code: string | undefined): boolean | undefined {
  if (code === undefined) return undefined
  if (/^[45]\d\d$/.test(code)) return ['408', '409', '429'].includes(code) || code.startsWith('5')
  return PASSING.test(code) || BROKEN_LINE.test(code) ? true : undefined
}
