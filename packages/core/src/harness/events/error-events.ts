import { toError, type ErrorEvent, type HarnessErrorEvent, type JsonValue } from '@evener/protocol'
import { isObject } from '../tools/tool-input.ts'

/** Words of providers and programs for what passes by itself. */
const PASSING = /overload|rate.?limit|too.?many.?requests|server.?error|service.?unavailable|timeout|timed.?out/i
const BROKEN_LINE =
  /connection.?failed|stream.?disconnected|^(ECONN|ENOTFOUND|ETIMEDOUT|EPIPE|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_)/i

/** An error of a run. Whether asking again may help is left out where nobody knows it. */
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

/** What an agent that asks models itself has found out about the failure. */
function retryOf(said: JsonValue | undefined): { readonly retryable?: boolean; readonly retryAfterMs?: number } {
  const { retryable, retryAfterMs } = isObject(said) ? said : {}
  return {
    ...(typeof retryable === 'boolean' ? { retryable } : {}),
    ...(typeof retryAfterMs === 'number' ? { retryAfterMs } : {}),
  }
}

/** Programs of their own give a status or a word, if anything. */
function byCode(code: string | undefined): boolean | undefined {
  if (code === undefined) return undefined
  if (/^[45]\d\d$/.test(code)) return ['408', '409', '429'].includes(code) || code.startsWith('5')
  return PASSING.test(code) || BROKEN_LINE.test(code) ? true : undefined
}
