import { toErrorData, type ErrorData } from '@inspan/protocol'
import { overflowOf, type ContextOverflow } from './context-overflow.ts'

/** Why a model call gave no complete answer, and whether a retry may help. */
export interface ModelFailure {
  readonly error: ErrorData
  readonly code?: string
  readonly isRetryable: boolean
  /** How long the provider asks to wait. */
  readonly retryAfterMs?: number
  readonly status?: number
  /** Set if the request was longer than the model's context window. */
  readonly overflow?: ContextOverflow
}

export const STREAM_CUT: ModelFailure = {
  error: { name: 'StreamCut', message: 'The model stopped in mid-answer.' },
  code: 'stream-cut',
  isRetryable: true,
}

/** Returns the failure of a silent model, which counts as a cut stream. */
export function silentFor(ms: number): ModelFailure {
  const message = `Nothing came from the model for ${ms} ms.`
  return { error: { name: 'StreamIdle', message }, code: 'stream-idle', isRetryable: true }
}

/** Error codes of Node and its fetch for broken connections. */
const NETWORK_CODES = /^(ECONN|ENOTFOUND|ETIMEDOUT|EPIPE|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_)/

/** Makes a failure of what provider packages throw or put into the `error` part of a stream. */
export function failureOf(thrown: unknown, now: number): ModelFailure {
  const fields = isObject(thrown) ? thrown : {}
  const status = numberOf(fields['statusCode'])
  const said = fields['isRetryable']
  const retryAfterMs = retryAfterOf(fields['responseHeaders'], now)
  const overflow = overflowOf(status, fields['message'], fields['responseBody'], fields['code'], fields['type'])
  return {
    error: { ...errorDataOf(thrown), ...(status === undefined ? {} : { details: { status } }) },
    ...(overflow === undefined ? {} : { code: 'context-overflow', overflow }),
    isRetryable: overflow !== undefined ? false : typeof said === 'boolean' ? said : isPassing(thrown, fields, status),
    ...(status === undefined ? {} : { status }),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  }
}

function isPassing(thrown: unknown, fields: { readonly [key: string]: unknown }, status: number | undefined): boolean {
  if (status !== undefined) return isTemporary(status)
  return isNetwork(thrown) || [fields['type'], fields['code']].some(isPassingWord)
}

/** Whether an error type or code is temporary. Within a stream there is no status, only the words of the provider. */
function isPassingWord(word: unknown): boolean {
  return typeof word === 'string' && /^(overloaded|rate_limit|server_error|api_error|timeout)/.test(word)
}

function isTemporary(status: number): boolean {
  return status === 408 || status === 409 || status === 429 || status >= 500
}

function isNetwork(thrown: unknown, depth = 0): boolean {
  if (!(thrown instanceof Error) || depth > 8) return false
  if (thrown.name === 'AbortError') return false
  const code: unknown = 'code' in thrown ? thrown.code : undefined
  if (typeof code === 'string' && NETWORK_CODES.test(code)) return true
  return thrown instanceof TypeError && /fetch failed|terminated/.test(thrown.message)
    ? true
    : isNetwork(thrown.cause, depth + 1)
}

/** Reads both headers: milliseconds, as some providers send, and seconds or a date, as in HTTP. */
function retryAfterOf(headers: unknown, now: number): number | undefined {
  if (!isObject(headers)) return undefined
  const exact = Number(headers['retry-after-ms'] ?? Number.NaN)
  if (Number.isFinite(exact) && exact >= 0) return exact
  const plain = headers['retry-after']
  if (typeof plain !== 'string') return undefined
  const seconds = Number(plain)
  const ms = Number.isFinite(seconds) ? seconds * 1000 : Date.parse(plain) - now
  return Number.isFinite(ms) && ms >= 0 ? ms : undefined
}

/** In a stream, errors are plain objects. */
function errorDataOf(thrown: unknown): ErrorData {
  if (thrown instanceof Error || !isObject(thrown) || typeof thrown['message'] !== 'string') return toErrorData(thrown)
  const { code, message, type } = thrown
  return {
    name: typeof type === 'string' ? type : 'ModelError',
    message,
    ...(typeof code === 'string' || typeof code === 'number' ? { code: String(code) } : {}),
  }
}

function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined
}

function isObject(value: unknown): value is { readonly [key: string]: unknown } {
  return typeof value === 'object' && value !== null
}
