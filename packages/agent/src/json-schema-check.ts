import type { JsonObject, JsonValue } from '@evener/protocol'

/**
 * What is wrong with a value by a plain JSON Schema, or `undefined`. Knows the words that tool schemas are written in;
 * a word it does not know (`$ref`, `format` …) constrains nothing.
 */
export function checkAgainst(schema: JsonObject, value: unknown, path = ''): string | undefined {
  return (
    checkType(schema, value, path) ??
    checkChoice(schema, value, path) ??
    checkBounds(schema, value, path) ??
    checkItems(schema, value, path) ??
    checkProperties(schema, value, path)
  )
}

function checkType({ type }: JsonObject, value: unknown, path: string): string | undefined {
  const types = Array.isArray(type) ? type : type === undefined ? [] : [type]
  if (types.length === 0 || types.some((each: JsonValue) => isOfType(each, value))) return undefined
  return say(path, `expected ${types.join(' or ')}, received ${nameOf(value)}`)
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

function checkChoice(schema: JsonObject, value: unknown, path: string): string | undefined {
  const choices = Array.isArray(schema['enum']) ? schema['enum'] : 'const' in schema ? [schema['const']] : undefined
  const text = JSON.stringify(value)
  if (choices !== undefined && !choices.some((choice) => JSON.stringify(choice) === text)) {
    return say(path, `expected one of ${JSON.stringify(choices)}`)
  }
  for (const each of schemasIn(schema['allOf'])) {
    const problem = checkAgainst(each, value, path)
    if (problem !== undefined) return problem
  }
  const alternatives = [...schemasIn(schema['anyOf']), ...schemasIn(schema['oneOf'])]
  const problems = alternatives.map((each) => checkAgainst(each, value, path))
  return problems.length > 0 && problems.every((problem) => problem !== undefined) ? problems.join(', or ') : undefined
}

function checkBounds(schema: JsonObject, value: unknown, path: string): string | undefined {
  if (typeof value === 'number') return within(schema, value, path, ['minimum', 'maximum'], '')
  if (typeof value === 'string') return within(schema, value.length, path, ['minLength', 'maxLength'], ' characters')
  return undefined
}

/** Whether a size keeps to its bounds, whatever the schema calls them. */
function within(
  schema: JsonObject,
  size: number,
  path: string,
  [lowest, highest]: readonly [string, string],
  unit: string,
): string | undefined {
  const least = schema[lowest]
  const most = schema[highest]
  if (typeof least === 'number' && size < least) return say(path, `expected at least ${least}${unit}`)
  return typeof most === 'number' && size > most ? say(path, `expected at most ${most}${unit}`) : undefined
}

function checkItems(schema: JsonObject, value: unknown, path: string): string | undefined {
  if (!Array.isArray(value)) return undefined
  const problem = within(schema, value.length, path, ['minItems', 'maxItems'], ' items')
  if (problem !== undefined) return problem
  const { items } = schema
  if (!isObject(items)) return undefined
  for (const [index, item] of value.entries()) {
    const wrong = checkAgainst(items, item, `${path}[${index}]`)
    if (wrong !== undefined) return wrong
  }
  return undefined
}

function checkProperties(schema: JsonObject, value: unknown, path: string): string | undefined {
  if (!isObject(value)) return undefined
  const required = Array.isArray(schema['required']) ? schema['required'] : []
  const missing = required.filter((key) => typeof key === 'string' && !Object.hasOwn(value, key))
  if (missing.length > 0) return say(path, `missing ${missing.join(', ')}`)
  const properties = isObject(schema['properties']) ? schema['properties'] : {}
  for (const [key, item] of Object.entries(value)) {
    const known = Object.hasOwn(properties, key) ? properties[key] : schema['additionalProperties']
    const at = path === '' ? key : `${path}.${key}`
    if (known === false) return say(path, `unknown property ${key}`)
    const problem = isObject(known) ? checkAgainst(known, item, at) : undefined
    if (problem !== undefined) return problem
  }
  return undefined
}

function schemasIn(value: JsonValue | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter((each: JsonValue): each is JsonObject => isObject(each)) : []
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function nameOf(value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'array' : typeof value
}

function say(path: string, problem: string): string {
  return path === '' ? problem : `${path}: ${problem}`
}
