import { InspanError } from './errors.ts'
import { didYouMean } from './nearest-name.ts'

/** What a field has to be: as words for the error, and as a test. */
export interface FieldRule {
  readonly wanted: string
  readonly accepts: (value: unknown) => boolean
}

export type FieldRules<Fields extends object> = { readonly [Name in keyof Fields]?: FieldRule }

/** One rule for every option. */
export type OptionRules<Options extends object> = { readonly [Name in keyof Options]-?: FieldRule }

/** Accepts any value; it is checked elsewhere. */
export const anything: FieldRule = { wanted: 'anything', accepts: () => true }

export const aText: FieldRule = {
  wanted: 'a text that is not empty',
  accepts: (value) => typeof value === 'string' && value !== '',
}

export const words: FieldRule = { wanted: 'a text', accepts: (value) => typeof value === 'string' }

export const aFlag: FieldRule = { wanted: 'true or false', accepts: (value) => typeof value === 'boolean' }

export const aFunction: FieldRule = { wanted: 'a function', accepts: (value) => typeof value === 'function' }

export const anObject: FieldRule = { wanted: 'an object', accepts: isFields }

export const aNumber: FieldRule = { wanted: 'a number', accepts: (value) => Number.isFinite(value) }

export const anAmount: FieldRule = {
  wanted: 'a number of at least 0',
  accepts: (value) => isNumber(value) && Number.isFinite(value) && value >= 0,
}

/** Milliseconds. `Infinity` means no limit. */
export const aDuration: FieldRule = {
  wanted: 'a number of milliseconds, at least 0',
  accepts: (value) => isNumber(value) && value >= 0,
}

export const aCount: FieldRule = {
  wanted: 'a whole number of at least 0',
  accepts: (value) => isNumber(value) && Number.isSafeInteger(value) && value >= 0,
}

export const aPositiveCount: FieldRule = {
  wanted: 'a whole number of at least 1',
  accepts: (value) => isNumber(value) && Number.isSafeInteger(value) && value >= 1,
}

export const aShare: FieldRule = {
  wanted: 'a number from 0 to 1',
  accepts: (value) => isNumber(value) && value >= 0 && value <= 1,
}

export function oneOf(...names: readonly string[]): FieldRule {
  return { wanted: `one of ${names.join(', ')}`, accepts: (value) => names.includes(value as string) }
}

export function listOf(rule: FieldRule, of: string): FieldRule {
  return { wanted: `a list of ${of}`, accepts: (value) => Array.isArray(value) && value.every(rule.accepts) }
}

export function either(...rules: readonly FieldRule[]): FieldRule {
  return {
    wanted: rules.map(({ wanted }) => wanted).join(' or '),
    accepts: (value) => rules.some(({ accepts }) => accepts(value)),
  }
}

/**
 * Throws for the first field with a wrong value, which callers without types may pass, before anything is done with the
 * fields. `undefined` counts as absent, and only `required` fields must be present.
 */
export function checkFields<Fields extends object>(
  what: string,
  given: Fields,
  rules: FieldRules<Fields>,
  required: readonly (keyof Fields & string)[] = [],
): void {
  if (!isFields(given)) throw refused(what, anObject, given)
  for (const name in rules) {
    const value: unknown = given[name]
    const rule = rules[name]
    if (rule === undefined || (value === undefined && !required.includes(name))) continue
    if (!rule.accepts(value)) throw refused(`\`${name}\` of ${what}`, rule, value)
  }
}

/** Like `checkFields`, but `rules` lists all options: an unknown one is refused as a misspelling. */
export function checkOptions<Options extends object>(
  what: string,
  given: Options,
  rules: OptionRules<Options>,
  required: readonly (keyof Options & string)[] = [],
): void {
  if (!isFields(given) || Object.keys(given).some((name) => !Object.hasOwn(rules, name)))
    checkNames(what, given, Object.keys(rules))
  checkFields<Options>(what, given, rules, required)
}

/** Refuses options with unknown names and suggests the one that was meant. */
export function checkNames(what: string, given: object, known: readonly string[]): void {
  if (!isFields(given)) throw refused(what, anObject, given)
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined || known.includes(name)) continue
    throw new InspanError('invalid-input', `\`${name}\` is not an option of ${what}.`, {
      hint: didYouMean(name, known),
      details: { field: name },
    })
  }
}

function refused(what: string, { wanted }: FieldRule, value: unknown): InspanError {
  return new InspanError('invalid-input', `${what} has to be ${wanted}, not ${shown(value)}.`)
}

function shown(value: unknown): string {
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'string') return JSON.stringify(value.length > 40 ? `${value.slice(0, 40)}…` : value)
  if (typeof value === 'function') return 'a function'
  return typeof value === 'object' && value !== null ? 'an object' : String(value)
}

function isFields(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isNumber(value: unknown): value is number {
  return typeof value === 'number'
}
