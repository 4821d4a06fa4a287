import type { JsonObject, JsonValue } from '@inspan/protocol'
import { formatName } from './json-schema-formats.ts'
import { unicodePattern } from './json-schema-patterns.ts'

/** Tells whether the value of a keyword has the form that the keyword requires. */
type Form = (value: JsonValue | undefined) => boolean

const isSchema: Form = (value) => typeof value === 'boolean' || isObject(value)
const isList: Form = (value) => Array.isArray(value) && value.length > 0
const isNumber: Form = (value) => typeof value === 'number'
const isText: Form = (value) => typeof value === 'string'

/** Every keyword that is checked. Its value is ignored if it has another form, as in older drafts. */
const CHECKED: ReadonlyMap<string, Form> = new Map([
  ...forms(isSchema, 'not', 'if', 'then', 'else', 'additionalItems', 'contains', 'propertyNames'),
  ...forms(isSchema, 'additionalProperties', 'unevaluatedProperties', 'unevaluatedItems'),
  ...forms(isList, 'allOf', 'anyOf', 'oneOf', 'prefixItems'),
  ...forms(isObject, 'properties', 'patternProperties', 'dependentSchemas', '$defs', 'definitions', 'dependencies'),
  ...forms(isObject, 'dependentRequired'),
  ...forms((value) => isSchema(value) || isList(value), 'items'),
  ...forms((value) => isText(value) || isList(value), 'type'),
  ...forms(isText, '$ref', 'pattern', 'format'),
  ...forms(Array.isArray, 'enum', 'required'),
  ...forms(() => true, 'const'),
  ...forms((value) => typeof value === 'boolean', 'uniqueItems'),
  ...forms(isNumber, 'minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'),
  ...forms(isNumber, 'minLength', 'maxLength', 'minItems', 'maxItems', 'minContains', 'maxContains'),
  ...forms(isNumber, 'minProperties', 'maxProperties'),
])

/** Keywords that hold schemas by name. */
const NAMED: ReadonlySet<string> = new Set([
  'properties',
  'patternProperties',
  'dependentSchemas',
  '$defs',
  'definitions',
  'dependencies',
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

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Tells whether a keyword is checked, or is a remark, which constrains nothing. */
export function isCheckedWord(word: string, value: JsonValue): boolean {
  if (REMARKS.has(word) || word.startsWith('x-')) return true
  if (word === 'format') return typeof value !== 'string' || formatName(value) !== undefined
  // In draft 4 they are flags of `minimum` and `maximum`, not bounds of their own.
  if (word === 'exclusiveMinimum' || word === 'exclusiveMaximum') return typeof value === 'number'
  return CHECKED.has(word)
}

/** Returns the schemas directly inside a schema. */
export function schemasIn(schema: JsonObject): JsonValue[] {
  return Object.entries(schema).flatMap(([word, value]) => {
    if (NAMED.has(word)) return isObject(value) ? Object.values(value) : []
    const form = CHECKED.get(word)
    if (form === isList || word === 'items') return Array.isArray(value) ? value : [value]
    return form === isSchema ? [value] : []
  })
}

/**
 * Returns a copy that the library can check: without keywords in a form it does not expect, and with patterns and
 * formats in its terms. Whatever is no schema constrains nothing.
 */
export function readable(schema: JsonValue): JsonValue {
  if (!isObject(schema)) return typeof schema === 'boolean' ? schema : true
  return Object.fromEntries(Object.entries(schema).flatMap(([word, value]) => readableWord(word, value)))
}

function readableWord(word: string, value: JsonValue): [string, JsonValue][] {
  // An address of the whole would change what references within it mean.
  if (word === 'id' || (word === '$id' && !JSON.stringify(value).startsWith('"#'))) return []
  const form = CHECKED.get(word)
  if (form?.(value) === false) return []
  if (word === 'const' || word === 'enum') return [[word, structuredClone(value)]]
  if (word === 'pattern' && typeof value === 'string') return [[word, unicodePattern(value) ?? value]]
  if (word === 'format' && typeof value === 'string') {
    const name = formatName(value)
    return name === undefined ? [] : [[word, name]]
  }
  if (NAMED.has(word)) return [[word, readableNamed(word, value as JsonObject)]]
  if (form === isList || word === 'items') {
    return [[word, Array.isArray(value) ? value.map(readable) : readable(value)]]
  }
  // References may lead into keywords that are not known here.
  return [[word, isObject(value) && word !== 'dependentRequired' ? readable(value) : value]]
}

function readableNamed(word: string, schemas: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(schemas).map(([name, schema]) => [
      word === 'patternProperties' ? (unicodePattern(name) ?? name) : name,
      word === 'dependencies' && Array.isArray(schema) ? schema : readable(schema),
    ]),
  )
}

function forms(form: Form, ...words: readonly string[]): [string, Form][] {
  return words.map((word) => [word, form])
}
