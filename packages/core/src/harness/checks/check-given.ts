import { toJson } from '@inspan/agent'
import { InspanError, type JsonValue } from '@inspan/protocol'

/*
 * Checks of arguments, for callers without types. Each names the wrong field before anything is done with it. An
 * optional field may be `undefined`, but not of a wrong type.
 */

/** Checks the one argument of a call, as in `mode.switch({ modeId })`. */
export function givenFields<Fields extends object>(value: Fields | undefined, call: string): Fields {
  if (isFields(value)) return value
  throw invalid(`The argument of \`${call}\``, value, 'an object')
}

export function givenText(value: unknown, field: string): string {
  if (typeof value === 'string' && value !== '') return value
  throw invalidField(field, value, 'a text that is not empty')
}

export function optionalText(value: unknown, field: string): string | undefined {
  return value === undefined ? undefined : givenText(value, field)
}

/** Like `givenText`, but the text may be empty. */
export function givenWords(value: unknown, field: string): string {
  if (typeof value === 'string') return value
  throw invalidField(field, value, 'a text')
}

export function givenOneOf<Name extends string>(value: unknown, field: string, names: readonly Name[]): Name {
  const name = names.find((each) => each === value)
  if (name !== undefined) return name
  throw invalidField(field, value, `one of ${names.join(', ')}`)
}

export function givenFlag(value: unknown, field: string): boolean {
  if (typeof value === 'boolean') return value
  throw invalidField(field, value, 'true or false')
}

export function optionalFlag(value: unknown, field: string): boolean | undefined {
  return value === undefined ? undefined : givenFlag(value, field)
}

export function optionalCount(value: unknown, field: string): number | undefined {
  if (value === undefined) return undefined
  if (typeof value === 'number' && Number.isInteger(value) && value > 0) return value
  throw invalidField(field, value, 'a whole number above 0')
}

export function optionalNumber(value: unknown, field: string): number | undefined {
  return value === undefined ? undefined : givenNumber(value, field)
}

export function givenNumber(value: unknown, field: string): number {
  if (typeof value === 'number' && Number.isFinite(value)) return value
  throw invalidField(field, value, 'a number')
}

export function optionalFields(value: unknown, field: string): Readonly<Record<string, unknown>> | undefined {
  if (value === undefined) return undefined
  if (isFields(value)) return value
  throw invalidField(field, value, 'an object')
}

export function givenList(value: unknown, field: string): readonly unknown[] {
  if (Array.isArray(value)) return value
  throw invalidField(field, value, 'a list')
}

export function givenFunction(value: unknown, field: string): void {
  if (typeof value !== 'function') throw invalidField(field, value, 'a function')
}

/** Returns a copy, so that later changes by the caller have no effect. Throws when JSON would lose anything. */
export function givenJson(value: unknown, field: string): JsonValue {
  const json = toJson(value)
  if (value !== undefined && json.isExact) return json.value
  throw invalidField(field, value, 'JSON: nothing that refers to itself, no functions, no bigint, no NaN')
}

export function optionalJson(value: unknown, field: string): void {
  if (value !== undefined) givenJson(value, field)
}

export function isFields(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function invalidField(field: string, value: unknown, wanted: string): InspanError {
  return invalid(`\`${field}\``, value, wanted, field)
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
