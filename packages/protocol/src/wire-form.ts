import { toErrorData, type ErrorData } from './error-data.ts'
import type { JsonValue } from './json.ts'

/** The JSON form of an in-process type: dates as ISO text, errors as data, maps as records. */
export type Wire<T> = unknown extends T
  ? JsonValue
  : T extends Date
    ? string
    : T extends Error
      ? ErrorData
      : T extends ReadonlyMap<string, infer Value>
        ? { readonly [key: string]: Wire<Value> }
        : T extends readonly (infer Item)[]
          ? readonly Wire<Item>[]
          : T extends { toJSON(...args: never[]): infer Json }
            ? Wire<Json>
            : T extends object
              ? { readonly [Key in keyof T]: Wire<T[Key]> }
              : T

/**
 * Returns what a receiver holds after `JSON.parse(JSON.stringify(…))`, so that both ends see the same. Never throws:
 * tools put anything into a result, and an event that cannot be sent must not end its stream.
 */
export function toWire<T>(value: T): Wire<T> {
  return (jsonOf(value, []) ?? null) as Wire<T>
}

/** Returns `undefined` for values that JSON leaves out. */
function jsonOf(value: unknown, parents: readonly object[]): JsonValue | undefined {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value
    case 'number':
      // `+ 0` turns -0 into 0, which is what the receiver reads.
      return Number.isFinite(value) ? value + 0 : null
    case 'bigint':
      return value.toString()
    case 'object':
      return value === null ? null : objectOf(value, parents)
    default:
      return undefined
  }
}

function objectOf(value: object, parents: readonly object[]): JsonValue | undefined {
  if (parents.includes(value)) return '[circular]'
  try {
    return fieldsOf(value, [...parents, value])
  } catch {
    // A getter or `toJSON` of the value threw, or its nesting is deeper than the stack.
    return '[unreadable]'
  }
}

function fieldsOf(value: object, inside: readonly object[]): JsonValue | undefined {
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString()
  if (value instanceof Error) return recordOf(Object.entries(withoutStack(toErrorData(value))), inside)
  if (value instanceof Map)
    return recordOf(
      [...value].map(([key, item]) => [String(key), item]),
      inside,
    )
  if (Array.isArray(value) || value instanceof Set) {
    return Array.from(value, (item: unknown) => jsonOf(item, inside) ?? null)
  }
  if ('toJSON' in value && typeof value.toJSON === 'function') return jsonOf(value.toJSON(), inside)
  return recordOf(Object.entries(value), inside)
}

function recordOf(entries: readonly [string, unknown][], parents: readonly object[]): JsonValue {
  const kept: [string, JsonValue][] = []
  for (const [key, item] of entries) {
    const json = jsonOf(item, parents)
    if (json !== undefined) kept.push([key, json])
  }
  // `fromEntries` instead of assignment keeps a key named `__proto__` an ordinary key.
  return Object.fromEntries(kept)
}

/** A stack names files of the sending machine, so it stays in the log. */
function withoutStack(error: ErrorData): ErrorData {
  const { stack: _stack, cause, ...rest } = error
  return cause === undefined ? rest : { ...rest, cause: withoutStack(cause) }
}
