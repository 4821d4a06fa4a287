import type { JsonObject, JsonValue } from '@evener/protocol'

const NAMED = ['properties', 'patternProperties', '$defs', 'definitions'] as const
const LISTED = ['items', 'prefixItems', 'additionalProperties', 'anyOf', 'oneOf'] as const

/**
 * A schema whose objects have no other properties than those they name, where it does not say otherwise. Providers that
 * hold a model to a schema refuse open objects; libraries leave them open, since they only ignore what is too much. What
 * `allOf` joins stays open: closed, no part would take the properties of another.
 */
export function closedSchema(schema: JsonObject): JsonObject {
  const closed: { [key: string]: JsonValue } = { ...schema }
  for (const key of NAMED) {
    const value = schema[key]
    if (isObject(value))
      closed[key] = Object.fromEntries(Object.entries(value).map(([name, each]) => [name, inner(each)]))
  }
  for (const key of LISTED) {
    const value = schema[key]
    if (value !== undefined) closed[key] = Array.isArray(value) ? value.map(inner) : inner(value)
  }
  const { type } = schema
  const isOfObjects = type === 'object' || (Array.isArray(type) && type.includes('object'))
  if (isOfObjects && schema['properties'] !== undefined) closed['additionalProperties'] ??= false
  return closed
}

function inner(value: JsonValue): JsonValue {
  return isObject(value) ? closedSchema(value) : value
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
