import { isDeepStrictEqual } from 'node:util'
import type { JsonObject, JsonValue } from '@inspan/protocol'
import { checkFormat, readPattern } from './json-schema-formats.ts'
import { isObject, resolveRef } from './json-schema-refs.ts'

/** The place of the check in the value, and the schema that references are resolved in. */
interface Place {
  readonly root: JsonObject
  readonly path: string
  readonly depth: number
}

type Problem = string | undefined
type Check = (schema: JsonObject, value: unknown, place: Place) => Problem

/** Deeper than any schema of a tool. Stops a schema that refers to itself without end. */
const MAX_DEPTH = 500

/**
 * Checks a value against a plain JSON Schema (drafts 7 and 2020-12). Returns what is wrong, or `undefined`.
 * `schemaProblems` names the keywords that are not checked here.
 */
export function checkAgainst(schema: JsonObject, value: unknown): Problem {
  return check(schema, value, { root: schema, path: '', depth: 0 })
}

/** A schema may also be `true` or `false`; anything else constrains nothing. */
function check(schema: JsonValue | undefined, value: unknown, place: Place): Problem {
  if (schema === false) return say(place, 'nothing is allowed here')
  if (!isObject(schema)) return undefined
  if (place.depth > MAX_DEPTH) return say(place, 'nested too deeply to be checked')
  const inside = { ...place, depth: place.depth + 1 }
  for (const each of CHECKS) {
    const problem = each(schema, value, inside)
    if (problem !== undefined) return problem
  }
  return undefined
}

const checkRef: Check = ({ $ref }, value, place) => {
  if (typeof $ref !== 'string') return undefined
  const found = resolveRef(place.root, $ref)
  return found === undefined ? say(place, `cannot be checked: there is no ${$ref}`) : check(found, value, place)
}

const checkType: Check = ({ type }, value, place) => {
  const types = Array.isArray(type) ? type : type === undefined ? [] : [type]
  if (types.length === 0 || types.some((each: JsonValue) => isOfType(each, value))) return undefined
  return say(place, `expected ${types.join(' or ')}, received ${nameOf(value)}`)
}

function isOfType(type: JsonValue, value: unknown): boolean {
  switch (type) {
    case 'object':
      return isObject(value)
    case 'array':
      return Array.isArray(value)
    case 'integer':
      return Number.isInteger(value)
    case 'null':
      return value === null
    default:
      return typeof value === type
  }
}

const checkChoice: Check = (schema, value, place) => {
  const choices = Array.isArray(schema['enum']) ? schema['enum'] : 'const' in schema ? [schema['const']] : undefined
  if (choices === undefined || choices.some((choice) => isDeepStrictEqual(choice, value))) return undefined
  return say(place, `expected one of ${JSON.stringify(choices)}`)
}

const checkCombined: Check = (schema, value, place) => {
  for (const each of listOf(schema['allOf'])) {
    const problem = check(each, value, place)
    if (problem !== undefined) return problem
  }
  const { anyOf, oneOf, not } = schema
  const any = listOf(anyOf).map((each) => check(each, value, place))
  if (any.length > 0 && !any.includes(undefined)) return any.join(', or ')
  const one = listOf(oneOf).map((each) => check(each, value, place))
  const fitting = one.filter((problem) => problem === undefined).length
  if (one.length > 0 && fitting === 0) return one.join(', or ')
  if (fitting > 1) return say(place, `expected to fit one of several, fits ${fitting}`)
  if (not !== undefined && check(not, value, place) === undefined) return say(place, 'is what it must not be')
  return undefined
}

const checkCondition: Check = (schema, value, place) => {
  if (schema['if'] === undefined) return undefined
  const branch = check(schema['if'], value, place) === undefined ? 'then' : 'else'
  return check(schema[branch], value, place)
}

const checkNumber: Check = (schema, value, place) => {
  if (typeof value !== 'number') return undefined
  const problem = within(schema, value, place, ['minimum', 'maximum'], '')
  if (problem !== undefined) return problem
  const { exclusiveMinimum: above, exclusiveMaximum: below, multipleOf } = schema
  if (typeof above === 'number' && value <= above) return say(place, `expected more than ${above}`)
  if (typeof below === 'number' && value >= below) return say(place, `expected less than ${below}`)
  return typeof multipleOf === 'number' && !isMultiple(value, multipleOf)
    ? say(place, `expected a multiple of ${multipleOf}`)
    : undefined
}

/** 0.3 is a multiple of 0.1, whatever binary fractions make of it. */
function isMultiple(value: number, step: number): boolean {
  const times = value / step
  return Math.abs(times - Math.round(times)) < 1e-9 * Math.max(1, Math.abs(times))
}

const checkString: Check = (schema, value, place) => {
  if (typeof value !== 'string') return undefined
  // Counts characters, not UTF-16 units.
  const problem = within(schema, Array.from(value).length, place, ['minLength', 'maxLength'], ' characters')
  if (problem !== undefined) return problem
  const { format, pattern } = schema
  if (typeof pattern === 'string' && !matches(pattern, value)) return say(place, `expected to match ${pattern}`)
  return typeof format === 'string' && !checkFormat(format, value) ? say(place, `expected ${format}`) : undefined
}

/** No text matches an invalid pattern. */
function matches(pattern: string, text: string): boolean {
  return readPattern(pattern)?.test(text) ?? false
}

/** Checks a size against its bounds, whatever the schema calls them. */
function within(
  schema: JsonObject,
  size: number,
  place: Place,
  [lowest, highest]: readonly [string, string],
  unit: string,
): Problem {
  const least = schema[lowest]
  const most = schema[highest]
  if (typeof least === 'number' && size < least) return say(place, `expected at least ${least}${unit}`)
  return typeof most === 'number' && size > most ? say(place, `expected at most ${most}${unit}`) : undefined
}

const checkItems: Check = (schema, value, place) => {
  if (!Array.isArray(value)) return undefined
  const problem = within(schema, value.length, place, ['minItems', 'maxItems'], ' items')
  if (problem !== undefined) return problem
  if (schema['uniqueItems'] === true && hasTwice(value)) return say(place, 'expected no item twice')
  const { contains, items } = schema
  const first = listOf(Array.isArray(items) ? items : schema['prefixItems'])
  const others = Array.isArray(items) ? schema['additionalItems'] : items
  for (const [index, item] of value.entries()) {
    const wrong = check(index < first.length ? first[index] : others, item, at(place, `[${index}]`))
    if (wrong !== undefined) return wrong
  }
  if (contains === undefined) return undefined
  const found = value.filter((item, index) => check(contains, item, at(place, `[${index}]`)) === undefined).length
  return within({ minContains: 1, ...schema }, found, place, ['minContains', 'maxContains'], ' fitting items')
}

function hasTwice(items: readonly unknown[]): boolean {
  return items.some((item, index) => items.slice(0, index).some((other) => isDeepStrictEqual(other, item)))
}

const checkKeys: Check = (schema, value, place) => {
  if (!isObject(value)) return undefined
  const missing = stringsOf(schema['required']).filter((key) => !Object.hasOwn(value, key))
  if (missing.length > 0) return say(place, `missing ${missing.join(', ')}`)
  const problem = within(schema, Object.keys(value).length, place, ['minProperties', 'maxProperties'], ' properties')
  if (problem !== undefined) return problem
  for (const [key, needed] of entriesOf(schema['dependentRequired'], schema['dependencies'])) {
    const absent = Object.hasOwn(value, key) ? stringsOf(needed).filter((each) => !Object.hasOwn(value, each)) : []
    if (absent.length > 0) return say(place, `missing ${absent.join(', ')}, which ${key} needs`)
  }
  for (const [key, dependent] of entriesOf(schema['dependentSchemas'], schema['dependencies'])) {
    const wrong = Object.hasOwn(value, key) ? check(dependent, value, place) : undefined
    if (wrong !== undefined) return wrong
  }
  return undefined
}

const checkProperties: Check = (schema, value, place) => {
  if (!isObject(value)) return undefined
  const properties = isObject(schema['properties']) ? schema['properties'] : {}
  const patterns = entriesOf(schema['patternProperties'])
  for (const [key, item] of Object.entries(value)) {
    const named = check(schema['propertyNames'], key, place)
    if (named !== undefined) return say(place, `the name of property ${key}: ${named}`)
    const known = patterns.filter(([pattern]) => matches(pattern, key)).map(([, each]) => each)
    if (Object.hasOwn(properties, key)) known.push(properties[key] ?? true)
    if (known.length === 0) known.push(schema['additionalProperties'] ?? true)
    if (known.includes(false)) return say(place, `unknown property ${key}`)
    for (const each of known) {
      const wrong = check(each, item, at(place, key))
      if (wrong !== undefined) return wrong
    }
  }
  return undefined
}

const CHECKS: readonly Check[] = [
  checkRef,
  checkType,
  checkChoice,
  checkCombined,
  checkCondition,
  checkNumber,
  checkString,
  checkItems,
  checkKeys,
  checkProperties,
]

function listOf(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? value : []
}

function stringsOf(value: JsonValue | undefined): string[] {
  return listOf(value).filter((each) => typeof each === 'string')
}

function entriesOf(...values: readonly (JsonValue | undefined)[]): [string, JsonValue][] {
  return values.flatMap((value) => (isObject(value) ? Object.entries(value) : []))
}

function nameOf(value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'array' : typeof value
}

function at(place: Place, step: string): Place {
  const path = place.path === '' || step.startsWith('[') ? `${place.path}${step}` : `${place.path}.${step}`
  return { ...place, path }
}

function say({ path }: Place, problem: string): string {
  return path === '' ? problem : `${path}: ${problem}`
}
