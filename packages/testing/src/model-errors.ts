import { APICallError } from '@ai-sdk/provider'
import type { JsonObject } from '@inspan/protocol'
import type { ScriptedError, ScriptedStreamError } from './script.ts'
import { defaultStatus, errorHeaders, errorMessage, streamErrorAsCallError } from './scripted-error.ts'

const url = 'scripted:model'

/** The mark by which the AI SDK recognises what a provider package puts into an `error` part. */
const streamErrorMarker = Symbol.for('vercel.ai.providerStreamError')

/** Returns what provider packages throw when the server answers with an error status. */
export function apiError(error: ScriptedError, request: JsonObject): APICallError {
  const statusCode = error.status ?? defaultStatus
  const message = errorMessage(error, statusCode)
  const body = error.body ?? { error: { type: error.type ?? 'scripted_error', code: error.code ?? null, message } }
  return new APICallError({
    message,
    url,
    requestBodyValues: request,
    statusCode,
    responseHeaders: errorHeaders(error),
    responseBody: typeof body === 'string' ? body : JSON.stringify(body),
    ...(error.retryable !== undefined && { isRetryable: error.retryable }),
  })
}

/** Returns what provider packages throw when the connection breaks while the answer is read. */
export function connectionLost(request: JsonObject): APICallError {
  const closed = Object.assign(new Error('other side closed'), { code: 'UND_ERR_SOCKET' })
  return new APICallError({
    message: 'Failed to process successful response',
    url,
    requestBodyValues: request,
    statusCode: 200,
    cause: new TypeError('terminated', { cause: closed }),
    isRetryable: true,
  })
}

/** Returns what provider packages put into the `error` part of a stream: plain data, not an Error. */
export function streamErrorOf(error: ScriptedStreamError): object {
  const { statusCode, isRetryable, message } = apiError(streamErrorAsCallError(error), {})
  const data = { type: error.type ?? 'scripted_error', code: error.code ?? null, message }
  const part = { message, type: data.type, code: error.code, statusCode, isRetryable, data }
  return Object.defineProperty(part, streamErrorMarker, { value: true })
}
