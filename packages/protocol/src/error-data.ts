import type { JsonValue } from './json.ts'

/** An error as plain data, which can be logged, sent and restored. */
export interface ErrorData {
  readonly name: string
  readonly message: string
  readonly code?: string
  readonly stack?: string
  readonly details?: JsonValue
  readonly cause?: ErrorData
}

/** How many causes are followed. An error that is its own cause must not hang the writer. */
const MAX_CAUSES = 8

/** Converts anything thrown into plain data and keeps its message, code and causes. */
export function toErrorData(thrown: unknown, depth = 0): ErrorData {
  if (!(thrown instanceof Error)) return { name: 'Error', message: describeThrown(thrown) }
  const code: unknown = 'code' in thrown ? thrown.code : undefined
  return {
    name: thrown.name,
    message: thrown.message,
    ...(typeof code === 'string' || typeof code === 'number' ? { code: String(code) } : {}),
    ...(thrown.stack === undefined ? {} : { stack: thrown.stack }),
    ...(thrown.cause === undefined || depth >= MAX_CAUSES ? {} : { cause: toErrorData(thrown.cause, depth + 1) }),
  }
}

/** Converts the data back, for interfaces that promise an `Error` object. */
export function toError(data: ErrorData): Error {
  const error = new Error(data.message, data.cause === undefined ? undefined : { cause: toError(data.cause) })
  error.name = data.name
  if (data.stack !== undefined) error.stack = data.stack
  if (data.code !== undefined) Object.assign(error, { code: data.code })
  return error
}

function describeThrown(thrown: unknown): string {
  if (typeof thrown === 'string') return thrown
  try {
    return JSON.stringify(thrown) ?? String(thrown)
  } catch {
    return String(thrown)
  }
}
