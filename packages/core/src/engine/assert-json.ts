import { EvenerError } from '@evener/protocol'

/** Far more than anybody means, and far less than what a JSON writer can take. */
const MAX_DEPTH = 1000

/** Refuses what could not be written as JSON, before anything has come of it. */
export function assertJson(what: string, value: unknown, depth = 0): void {
  if (typeof value === 'bigint') throw notJson(what, 'it holds a bigint')
  if (typeof value !== 'object' || value === null) return
  if (depth > MAX_DEPTH) throw notJson(what, 'it refers to itself, or is nested too deeply')
  if (!isPlain(value)) return assertWrites(what, value)
  for (const item of Object.values(value)) assertJson(what, item, depth + 1)
}

function isPlain(value: object): boolean {
  if ('toJSON' in value) return false
  if (Array.isArray(value)) return true
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

function assertWrites(what: string, value: object): void {
  try {
    JSON.stringify(value)
  } catch (cause) {
    throw notJson(what, String(cause), cause)
  }
}

function notJson(what: string, why: string, cause?: unknown): EvenerError {
  const text = `${what} cannot be written as JSON: ${why}.`
  return new EvenerError('invalid-input', text, cause === undefined ? {} : { cause })
}
