import { toJson } from '@inspan/agent'
import { InspanError, type JsonValue } from '@inspan/protocol'
import type { FieldRule, FieldRules } from '@inspan/protocol/internal'

/*
 * Checks of arguments, for callers without types. Each names the wrong field before anything is done with it. An
 * optional field may be `undefined`, but not of a wrong type.
 */

export const aList: FieldRule = { wanted: 'a list', accepts: Array.isArray }

/** Unlike a count it may be larger than any list: then it means all. */
export const aLimit: FieldRule = {
  wanted: 'a whole number above 0',
  accepts: (value) => Number.isInteger(value) && (value as number) > 0,
}

export const aJson: FieldRule = {
  wanted: 'JSON: nothing that refers to itself, no functions, no bigint, no NaN',
  accepts: (value) => value !== undefined && toJson(value).isExact,
}

/** Checks the one argument of a call, as in `mode.switch({ modeId })`, and returns it. */
export function givenFields<Fields extends object>(
  value: Fields | undefined,
  call: string,
  required: FieldRules<Fields> = {},
  optional: FieldRules<Fields> = {},
): Fields {
  if (!isFields(value)) throw invalid(`The argument of \`${call}\``, value, 'an object')
  for (const name in required) checkGiven(value[name], name, required[name])
  for (const name in optional) checkOptional(value[name], name, optional[name])
  return value
}

export function checkGiven(value: unknown, field: string, rule: FieldRule | undefined): void {
  if (rule?.accepts(value) === false) throw invalid(`\`${field}\``, value, rule.wanted, field)
}

export function checkOptional(value: unknown, field: string, rule: FieldRule | undefined): void {
  if (value !== undefined) checkGiven(value, field, rule)
}

/** Returns a copy, so that later changes by the caller have no effect. Throws when JSON would lose anything. */
export function givenJson(value: unknown, field: string): JsonValue {
  checkGiven(value, field, aJson)
  return toJson(value).value
}

export function isFields(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function invalid(what: string, value: unknown, wanted: string, field?: string): InspanError {
  const message = `${what} must be ${wanted}; it is ${shown(value)}.`
  return new InspanError('invalid-input', message, field === undefined ? {} : { details: { field } })
}

function shown(value: unknown): string {
  if (value === undefined) return 'missing'
  if (typeof value === 'string')
    return value.length > 100 ? `a text of ${value.length} characters` : JSON.stringify(value)
  if (Array.isArray(value)) return 'a list'
  const isPlain = value === null || typeof value === 'number' || typeof value === 'boolean'
  return isPlain ? String(value) : `a value of type ${typeof value}`
}
