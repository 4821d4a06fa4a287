import type { JsonObject, JsonValue } from '@evener/protocol'

const NAMED = ['properties', 'patternProperties', '$defs', 'definitions'] as const
const LISTED = ['items', 'prefixItems', 'additionalProperties', 'anyOf', 'oneOf'] as const

/**
 * A schema whose objects have no other properties than those they name, where it does not say otherwise. Providers that
 * hold a model to a schema refuse open objects; libraries leave them open, since they only ignore what is too much. What
 * `allOf` joins stays open, also where it only points to it: closed, no part would take the properties of another.
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

/** What is pointed to by an `allOf` of several. One of a single schema joins nothing. */
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
