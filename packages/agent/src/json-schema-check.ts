import { dereference, validate, type Schema, type ValidationResult } from '@cfworker/json-schema'
import type { JsonObject, JsonValue } from '@inspan/protocol'
import { unicodePattern } from './json-schema-patterns.ts'
import { describeErrors, type ReadSchema } from './json-schema-errors.ts'
import { isCheckedWord, isObject, readable, schemasIn } from './json-schema-words.ts'
import { withinTime } from './time-limit.ts'

/** The parts of a schema that cannot be checked. */
export interface SchemaProblems {
  /** Keywords that are not checked and so constrain nothing. */
  readonly unchecked: readonly string[]
  /** Parts that are invalid, so that no value fits. */
  readonly broken: readonly string[]
}

/** Whoever wrote a schema may have written a pattern that backtracks without end. */
const MOST_MS = 1_000

/** Schemas are read once. */
const readSchemas = new WeakMap<JsonObject, ReadSchema>()

/**
 * Checks a value against a plain JSON Schema (drafts 7 and 2020-12). Returns what is wrong, or `undefined`.
 * `schemaProblems` names the keywords that are not checked here.
 */
export function checkAgainst(schema: JsonObject, value: unknown): string | undefined {
  if (value === undefined) {
    const { type } = schema
    if (type === undefined) return undefined
    return `expected ${Array.isArray(type) ? type.join(' or ') : (type as string)}, received undefined`
  }
  try {
    const read = readOnce(schema)
    const check = (): ValidationResult => validate(value, read.schema, '2020-12', read.lookup)
    const { errors, valid } = read.hasPatterns ? withinTime(MOST_MS, check) : check()
    return valid ? undefined : describeErrors(errors, value, read)
  } catch (error) {
    return describeFailure(error)
  }
}

function readOnce(schema: JsonObject): ReadSchema {
  const known = readSchemas.get(schema)
  if (known !== undefined) return known
  const copy = readable(schema) as Schema
  const hasPatterns = JSON.stringify(copy).includes('"pattern')
  const made = { schema: copy, lookup: dereference(copy), hasPatterns }
  readSchemas.set(schema, made)
  return made
}

/** The library throws on what it cannot check. */
function describeFailure(error: unknown): string {
  if (error instanceof RangeError) return 'nested too deeply to be checked'
  const message = error instanceof Error ? error.message : String(error)
  const [, ref] = /^Unresolved \$ref "(.*?)"\./.exec(message) ?? []
  return `cannot be checked: ${ref === undefined ? message : `there is no ${ref}`}`
}

/** Finds the problems of a whole schema, once, before values are checked against it. */
export function schemaProblems(schema: JsonObject): SchemaProblems {
  const unchecked = new Set<string>()
  const broken = new Set<string>()
  const look = (here: JsonValue): void => {
    if (!isObject(here)) return
    for (const [word, value] of Object.entries(here)) {
      if (!isCheckedWord(word, value)) unchecked.add(describeWord(word, value))
    }
    const { $ref, pattern } = here
    if (typeof $ref === 'string' && !isResolved(schema, $ref)) broken.add(`$ref: "${$ref}"`)
    const named = isObject(here['patternProperties']) ? Object.keys(here['patternProperties']) : []
    for (const each of typeof pattern === 'string' ? [pattern, ...named] : named) {
      if (unicodePattern(each) === undefined) broken.add(`pattern: "${each}"`)
    }
    for (const inner of schemasIn(here)) look(inner)
  }
  look(schema)
  return { unchecked: [...unchecked], broken: [...broken] }
}

function isResolved(schema: JsonObject, ref: string): boolean {
  try {
    const { lookup } = readOnce(schema)
    return Object.values(lookup).some(
      (each) => typeof each === 'object' && each.$ref === ref && lookup[each.__absolute_ref__ ?? ''] !== undefined,
    )
  } catch {
    // The library throws on a reference that is no address.
    return false
  }
}

function describeWord(word: string, value: JsonValue): string {
  const isShort = typeof value === 'string' || typeof value === 'boolean'
  return isShort ? `${word}: ${JSON.stringify(value)}` : word
}
