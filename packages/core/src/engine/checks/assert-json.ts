import { InspanError } from '@inspan/protocol'

/** Far more than anybody needs, and far less than a JSON writer can take. */
const MAX_DEPTH = 1000

/**
 * Throws if the value cannot be written as JSON, before anything was done with it. Returns false if it would not come
 * back the same: it holds an instance of a class, `undefined`, a function or a symbol, or a number JSON does not have.
 */
export function assertJson(what: string, value: unknown, depth = 0): boolean {
  if (typeof value === 'bigint') throw notJson(what, 'it holds a bigint')
  if (typeof value === 'number') return Number.isFinite(value) && !Object.is(value, -0)
  if (value === undefined || typeof value === 'function' || typeof value === 'symbol') return false
  if (typeof value !== 'object' || value === null) return true
  if (depth > MAX_DEPTH) throw notJson(what, 'it refers to itself, or is nested too deeply')
  if (!isPlain(value)) {
    assertWrites(what, value)
    return false
  }
  let isExact = true
  // By index and by key, without copying: every record passes here.
  if (Array.isArray(value)) {
    // Includes holes, which come back as null.
    for (let index = 0; index < value.length; index++) {
      if (!assertJson(what, value[index], depth + 1)) isExact = false
    }
    return isExact
  }
  for (const key in value) {
    if (!Object.hasOwn(value, key)) continue
    if (!assertJson(what, (value as Record<string, unknown>)[key], depth + 1)) isExact = false
  }
  return isExact
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

function notJson(what: string, why: string, cause?: unknown): InspanError {
  const text = `${what} cannot be written as JSON: ${why}.`
  return new InspanError('invalid-input', text, cause === undefined ? {} : { cause })
}
