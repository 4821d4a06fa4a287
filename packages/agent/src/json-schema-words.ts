import type { JsonObject, JsonValue } from '@inspan/protocol'
import { isKnownFormat, readPattern } from './json-schema-formats.ts'
import { isObject, resolveRef } from './json-schema-refs.ts'

/** The parts of a schema that cannot be checked. */
export interface SchemaProblems {
  /** Keywords that are not checked and so constrain nothing. */
  readonly unchecked: readonly string[]
  /** Parts that are invalid, so that no value fits. */
  readonly broken: readonly string[]
}

/** Keywords that hold one schema, a list of schemas, or schemas by name. */
const ONE = [
  'not',
  'if',
  'then',
  'else',
  'additionalItems',
  'contains',
  'propertyNames',
  'additionalProperties',
] as const
const MANY = ['allOf', 'anyOf', 'oneOf', 'prefixItems'] as const
const NAMED = ['properties', 'patternProperties', 'dependentSchemas', '$defs', 'definitions'] as const

const CHECKED: ReadonlySet<string> = new Set([
  ...ONE,
  ...MANY,
  ...NAMED,
  'items',
  'dependencies',
  'dependentRequired',
  '$ref',
  'type',
  'enum',
  'const',
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'minLength',
  'maxLength',
  'pattern',
  'format',
  'minItems',
  'maxItems',
  'uniqueItems',
  'minContains',
  'maxContains',
  'required',
  'minProperties',
  'maxProperties',
])

/** Keywords about the schema itself, not about a value. */
const REMARKS: ReadonlySet<string> = new Set([
  '$schema',
  '$id',
  '$anchor',
  '$comment',
  '$vocabulary',
  'title',
  'description',
  'default',
  'example',
  'examples',
  'deprecated',
  'readOnly',
  'writeOnly',
])

/** Finds the problems of a whole schema, once, before values are checked against it. */
export function schemaProblems(schema: JsonObject): SchemaProblems {
  const unchecked = new Set<string>()
  const broken = new Set<string>()
  const look = (here: JsonValue | undefined): void => {
    if (!isObject(here)) return
    for (const [word, value] of Object.entries(here)) {
      if (!isChecked(word, value)) unchecked.add(sayWord(word, value))
    }
    const { $ref, pattern } = here
    if (typeof $ref === 'string' && resolveRef(schema, $ref) === undefined) broken.add(`$ref: "${$ref}"`)
    const patterns = [pattern, ...keysOf(here['patternProperties'])].filter((each) => typeof each === 'string')
    for (const each of patterns) if (readPattern(each) === undefined) broken.add(`pattern: "${each}"`)
    for (const word of ONE) look(here[word])
    for (const list of [...MANY.map((word) => here[word]), here['items']]) {
      if (Array.isArray(list)) list.forEach(look)
      else look(list)
    }
    for (const named of [...NAMED.map((word) => here[word]), here['dependencies']]) {
      if (isObject(named)) Object.values(named).forEach(look)
    }
  }
  look(schema)
  return { unchecked: [...unchecked], broken: [...broken] }
}

function isChecked(word: string, value: JsonValue): boolean {
  if (REMARKS.has(word) || word.startsWith('x-')) return true
  if (word === 'format') return typeof value !== 'string' || isKnownFormat(value)
  // In draft 4 they are flags of `minimum` and `maximum`, not bounds of their own.
  if (word === 'exclusiveMinimum' || word === 'exclusiveMaximum') return typeof value === 'number'
  return CHECKED.has(word)
}

function sayWord(word: string, value: JsonValue): string {
  const isShort = typeof value === 'string' || typeof value === 'boolean'
  return isShort ? `${word}: ${JSON.stringify(value)}` : word
}

function keysOf(value: JsonValue | undefined): string[] {
  return isObject(value) ? Object.keys(value) : []
}
