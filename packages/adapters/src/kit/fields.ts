import type { JsonObject, JsonValue } from '@inspan/protocol'

/**
 * Readers for untrusted records: a field of the wrong type counts as absent. They never throw, and look no deeper into
 * a record than they are asked to.
 */

export const NO_FIELDS: JsonObject = Object.freeze({})

export function asObject(value: JsonValue | undefined): JsonObject | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : undefined
}

export function asArray(value: JsonValue | undefined): readonly JsonValue[] | undefined {
  return Array.isArray(value) ? value : undefined
}

/** Returns a non-empty string. */
export function asText(value: JsonValue | undefined): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** Returns a safe integer, such as a line number or an exit code. */
export function asInteger(value: JsonValue | undefined): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) ? value : undefined
}

/** Returns an integer, also from a string of digits, which models write and CLIs accept. */
export function asCount(value: JsonValue | undefined): number | undefined {
  return asInteger(typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value)
}

export function asBoolean(value: JsonValue | undefined): boolean | undefined {
  return typeof value === 'boolean' ? value : undefined
}

/** Returns the first of these fields with a non-empty string: versions of a CLI rename fields. */
export function firstText(record: JsonObject, ...keys: readonly string[]): string | undefined {
  for (const key of keys) {
    const value = record[key]
    if (typeof value === 'string' && value !== '') return value
  }
  return undefined
}

export function firstInteger(record: JsonObject, ...keys: readonly string[]): number | undefined {
  for (const key of keys) {
    const value = asInteger(record[key])
    if (value !== undefined) return value
  }
  return undefined
}

/** Returns the strings of a list, or a single string as a list. */
export function textList(value: JsonValue | undefined): readonly string[] {
  if (typeof value === 'string') return value === '' ? [] : [value]
  if (!Array.isArray(value)) return []
  const texts: string[] = []
  for (const item of value as readonly JsonValue[]) if (typeof item === 'string' && item !== '') texts.push(item)
  return texts
}

export function asNumber(value: JsonValue | undefined): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined
}
