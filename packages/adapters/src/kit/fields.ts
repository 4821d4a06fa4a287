import type { JsonObject, JsonValue } from '@evener/protocol'

/**
 * Readers for records nobody vouches for: a field of the wrong type is an absent field. Reading a record never throws,
 * and never walks further into it than it is asked to.
 */

export const NO_FIELDS: JsonObject = Object.freeze({})

export function asObject(value: JsonValue | undefined): JsonObject | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : undefined
}

export function asArray(value: JsonValue | undefined): readonly JsonValue[] | undefined {
  return Array.isArray(value) ? value : undefined
}

/** A string that says something. */
export function asText(value: JsonValue | undefined): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** A whole number that counts exactly: what line numbers and exit codes are. */
export function asInteger(value: JsonValue | undefined): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) ? value : undefined
}

/** A whole number, also as the digits that models write in its place and programs take for it. */
export function asCount(value: JsonValue | undefined): number | undefined {
  return asInteger(typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value)
}

export function asBoolean(value: JsonValue | undefined): boolean | undefined {
  return typeof value === 'boolean' ? value : undefined
}

/** The first of these fields that holds a non-empty string: versions move fields about. */
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

/** The strings of a list, or the one string that stands in its place. */
export function textList(value: JsonValue | undefined): readonly string[] {
  if (typeof value === 'string') return value === '' ? [] : [value]
  if (!Array.isArray(value)) return []
  const texts: string[] = []
  for (const item of value as readonly JsonValue[]) if (typeof item === 'string' && item !== '') texts.push(item)
  return texts
}
