import type { OutputUnit, Schema } from '@cfworker/json-schema'

/** A schema as the library reads it, with every schema inside by its address. */
export interface ReadSchema {
  readonly schema: Schema
  readonly lookup: Record<string, Schema | boolean>
  readonly hasPatterns: boolean
}

/** Describes what a keyword requires. Keywords that are missing here only wrap the errors of a schema inside. */
const MESSAGES: Readonly<Record<string, (expected: unknown, value: unknown, error: string) => string>> = {
  false: () => 'nothing is allowed here',
  type: (types, value) => `expected ${[types].flat().join(' or ')}, received ${nameOf(value)}`,
  const: (choice) => `expected one of ${JSON.stringify([choice])}`,
  enum: (choices) => `expected one of ${JSON.stringify(choices)}`,
  not: () => 'is what it must not be',
  oneOf: (_, _value, error) => `expected to fit one of several, fits ${/\d+/.exec(error)?.[0]}`,
  minimum: (least) => `expected at least ${String(least)}`,
  maximum: (most) => `expected at most ${String(most)}`,
  exclusiveMinimum: (above) => `expected more than ${String(above)}`,
  exclusiveMaximum: (below) => `expected less than ${String(below)}`,
  multipleOf: (step) => `expected a multiple of ${String(step)}`,
  minLength: (least) => `expected at least ${String(least)} characters`,
  maxLength: (most) => `expected at most ${String(most)} characters`,
  pattern: (pattern) => `expected to match ${String(pattern)}`,
  format: (format) => `expected ${String(format).replace(/^inspan:/, '')}`,
  minItems: (least) => `expected at least ${String(least)} items`,
  maxItems: (most) => `expected at most ${String(most)} items`,
  uniqueItems: () => 'expected no item twice',
  contains: () => 'expected at least 1 fitting items',
  minContains: (least) => `expected at least ${String(least)} fitting items`,
  maxContains: (most) => `expected at most ${String(most)} fitting items`,
  minProperties: (least) => `expected at least ${String(least)} properties`,
  maxProperties: (most) => `expected at most ${String(most)} properties`,
  required: (keys, value) => `missing ${missing(keys, value).join(', ')}`,
}

const NEEDED = /has "(.*)" but does not have "(.*)"/s

/** Puts the first problem into words for a model or a person. The library lists a schema before the schemas inside it. */
export function describeErrors(errors: readonly OutputUnit[], value: unknown, read: ReadSchema): string {
  const [error, ...inside] = errors
  if (error === undefined) return 'does not fit'
  const { instanceLocation, keyword, keywordLocation } = error
  const here = tokensOf(instanceLocation)
  const path = pathOf(here)
  const [, key, needed] = NEEDED.exec(error.error) ?? []
  if (needed !== undefined) return at(path, `missing ${needed}, which ${key} needs`)
  if (keyword === 'anyOf' || (keyword === 'oneOf' && error.error.includes('(0 '))) {
    return branches(keywordLocation, inside)
      .map((each) => (each.length === 0 ? at(path, 'nothing is allowed here') : describeErrors(each, value, read)))
      .join(', or ')
  }
  const [next] = inside
  const property = tokensOf(next?.instanceLocation ?? '').at(-1)
  if (keyword === 'propertyNames' && property !== undefined) {
    const named = describeErrors([{ ...(next as OutputUnit), instanceLocation: '#' }], property, read)
    return at(path, `the name of property ${property}: ${named}`)
  }
  if (/propert/i.test(keyword) && next?.keyword === 'false') return at(path, `unknown property ${property}`)
  const message = MESSAGES[keyword]
  if (message === undefined) return describeErrors(inside, value, read)
  const actual = here.reduce<unknown>((each, token) => (each as Record<string, unknown>)[token], value)
  return at(path, message(schemaAt(keywordLocation, read), actual, error.error))
}

/** Returns the errors of each alternative, or one empty list if none of them says more than `false`. */
function branches(location: string, inside: readonly OutputUnit[]): OutputUnit[][] {
  const found = new Map<string, OutputUnit[]>()
  let current: OutputUnit[] = []
  for (const error of inside) {
    // The library gives the schema `false` the location of the value.
    const isOwn = error.keywordLocation.startsWith(`${location}/`)
    if (!isOwn && error.keyword !== 'false') break
    const [index = ''] = isOwn ? error.keywordLocation.slice(location.length + 1).split('/') : []
    if (isOwn && !found.has(index)) found.set(index, (current = []))
    current.push(error)
  }
  return found.size === 0 ? [[]] : [...found.values()]
}

/** Returns the part of the schema at a location that leads through references. */
function schemaAt(location: string, { lookup, schema }: ReadSchema): unknown {
  let here: unknown = schema
  for (const token of tokensOf(location)) {
    const { __absolute_ref__: ref = '', [token]: inner } = Object(here) as Schema
    here = token === '$ref' ? lookup[ref] : inner
  }
  return here
}

function tokensOf(pointer: string): string[] {
  const tokens = pointer.split('/').slice(1)
  return tokens.map((token) => decodeURIComponent(token).replaceAll('~1', '/').replaceAll('~0', '~'))
}

function pathOf(tokens: readonly string[]): string {
  return tokens.map((token, index) => (/^\d+$/.test(token) ? `[${token}]` : index === 0 ? token : `.${token}`)).join('')
}

function at(path: string, problem: string): string {
  return path === '' ? problem : `${path}: ${problem}`
}

function missing(keys: unknown, value: unknown): unknown[] {
  return Array.isArray(keys) ? keys.filter((key) => !Object.hasOwn(Object(value), String(key))) : []
}

function nameOf(value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'array' : typeof value
}
