import { z } from 'zod'
import type { JsonObject, JsonValue } from '../json.ts'
import { exact, type Schema } from './exact.ts'

/** Uses its own stack, because deeply nested JSON must not overflow the call stack. */
function isJson(value: unknown): boolean {
  const rest: unknown[] = [value]
  while (rest.length > 0) {
    const next = rest.pop()
    if (next === null || typeof next === 'string' || typeof next === 'boolean') continue
    if (typeof next === 'number') {
      if (!Number.isFinite(next)) return false
    } else if (Array.isArray(next)) {
      for (const item of next) rest.push(item)
    } else if (isPlainObject(next)) {
      for (const item of Object.values(next)) rest.push(item)
    } else {
      return false
    }
  }
  return true
}

export function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

/** `JSON.parse` makes `__proto__` an own key, which is dangerous once somebody assigns it to an object. */
function withoutProto<T>(value: T): T {
  return hasProto(value) ? (copyWithoutProto(value) as T) : value
}

function hasProto(value: unknown): boolean {
  const rest: unknown[] = [value]
  while (rest.length > 0) {
    const next = rest.pop()
    if (typeof next !== 'object' || next === null) continue
    if (Object.hasOwn(next, '__proto__')) return true
    for (const item of Object.values(next)) rest.push(item)
  }
  return false
}

function copyWithoutProto(value: unknown): unknown {
  const top: Record<string, unknown> = {}
  const rest: { readonly from: unknown; readonly into: Record<string, unknown>; readonly key: string }[] = []
  rest.push({ from: value, into: top, key: 'value' })
  for (let next = rest.pop(); next !== undefined; next = rest.pop()) {
    const { from, into, key } = next
    if (typeof from !== 'object' || from === null) {
      into[key] = from
      continue
    }
    const copy = (Array.isArray(from) ? [] : {}) as Record<string, unknown>
    into[key] = copy
    for (const [name, item] of Object.entries(from)) {
      if (name !== '__proto__') rest.push({ from: item, into: copy, key: name })
    }
  }
  return top['value']
}

/** Any JSON. Passed on without a copy, unless it has a key `__proto__`. */
export const jsonValueSchema: Schema<JsonValue> = exact<JsonValue>()(
  z.custom<JsonValue>(isJson, { error: 'Expected JSON', abort: true }).overwrite(withoutProto),
)

export const jsonObjectSchema: Schema<JsonObject> = exact<JsonObject>()(
  z
    .custom<JsonObject>((value) => isPlainObject(value) && isJson(value), {
      error: 'Expected a JSON object',
      abort: true,
    })
    .overwrite(withoutProto),
)
