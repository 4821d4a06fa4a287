import type { JsonObject, JsonValue } from '@inspan/protocol'

const NAMED = ['properties', 'patternProperties', '$defs', 'definitions'] as const
const LISTED = ['items', 'prefixItems', 'additionalProperties', 'anyOf', 'oneOf'] as const

/**
 * Closes the objects of a schema: no properties but those they name, unless the schema says otherwise. Providers that
 * enforce a schema refuse open objects; libraries leave them open, as they ignore extra properties. Schemas joined by
 * `allOf`, even by reference, stay open: closed, each would refuse the properties of the others.
 */
export function closedSchema(schema: JsonObject): JsonObject {
  const joined = new Set<string>()
  noteJoined(schema, joined)
  return closed(schema, joined)
}

function closed(schema: JsonObject, joined: ReadonlySet<string>): JsonObject {
  const inner = (value: JsonValue): JsonValue => (isObject(value) ? closed(value, joined) : value)
  const result: { [key: string]: JsonValue } = { ...schema }
  for (const key of NAMED) {
    const value = schema[key]
    if (!isObject(value)) continue
    const entries = Object.entries(value).map(([name, each]) => {
      return [name, joined.has(`#/${key}/${name}`) ? each : inner(each)]
    })
    result[key] = Object.fromEntries(entries) as JsonObject
  }
  for (const key of LISTED) {
    const value = schema[key]
    if (value !== undefined) result[key] = Array.isArray(value) ? value.map(inner) : inner(value)
  }
  const { type } = schema
  const isOfObjects = type === 'object' || (Array.isArray(type) && type.includes('object'))
  if (isOfObjects && schema['properties'] !== undefined) result['additionalProperties'] ??= false
  return result
}

/** Collects references in an `allOf` with several schemas. One with a single schema joins nothing. */
function noteJoined(value: JsonValue, joined: Set<string>): void {
  if (typeof value !== 'object' || value === null) return
  const all = isObject(value) ? value['allOf'] : undefined
  if (Array.isArray(all) && all.length > 1) {
    for (const each of all as readonly JsonValue[]) {
      const to = isObject(each) ? each['$ref'] : undefined
      if (typeof to === 'string') joined.add(to)
    }
  }
  for (const each of Object.values(value) as readonly JsonValue[]) noteJoined(each, joined)
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
