import type { ScriptedError, ScriptedStreamError } from './script.ts'

export const defaultStatus = 500

export function errorMessage(error: { readonly message?: string }, status: number): string {
  return error.message ?? `Scripted error ${status}`
}

/** Returns the headers of a failed response, with the retry delay in both spellings that clients look for. */
export function errorHeaders(error: ScriptedError): Record<string, string> {
  const headers: Record<string, string> = {}
  if (error.retryAfterMs !== undefined) {
    headers['retry-after-ms'] = String(error.retryAfterMs)
    headers['retry-after'] = String(Math.ceil(error.retryAfterMs / 1000))
  }
  if (error.retryable !== undefined) headers['x-should-retry'] = String(error.retryable)
  return { ...headers, ...error.headers }
}

/** Converts the error for an answer that is not streamed. */
export function streamErrorAsCallError({ code, ...error }: ScriptedStreamError): ScriptedError {
  return { ...error, ...(code !== undefined && { code: String(code) }) }
}
