import { InspanError, toErrorData, type ErrorData, type JsonValue } from '@inspan/protocol'

/** Returns why a run failed, as plain data. Without our own stack, which says nothing about a foreign program. */
export function toFailure(thrown: unknown): ErrorData {
  const { stack: _stack, cause: _cause, ...data } = toErrorData(thrown)
  if (!InspanError.is(thrown) || Object.keys(thrown.details).length === 0) return data
  return { ...data, details: JSON.parse(JSON.stringify(thrown.details)) as JsonValue }
}

export function failure(code: string, message: string): ErrorData {
  return { name: 'RunError', code, message }
}
