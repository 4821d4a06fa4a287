import type { StandardJSONSchemaV1 } from '@standard-schema/spec'

/** Returns the defaults in a schema, also of nested objects; none where it cannot be turned into JSON Schema. */
export function schemaDefaults(converter: StandardJSONSchemaV1.Converter | undefined): Record<string, unknown> {
  const schema = jsonSchema(converter)
  const defaults = schema === undefined ? undefined : defaultOf(schema)
  return isObject(defaults) ? { ...defaults } : {}
}

function jsonSchema(converter: StandardJSONSchemaV1.Converter | undefined): unknown {
  try {
    return converter?.input({ target: 'draft-2020-12' })
  } catch {
    // A schema may contain types that JSON Schema cannot express: then it has no defaults for us.
    return undefined
  }
}

function defaultOf(schema: unknown): unknown {
  if (!isObject(schema)) return undefined
  if (schema['default'] !== undefined) return schema['default']
  const { properties } = schema
  if (!isObject(properties)) return undefined
  const entries = Object.entries(properties).flatMap(([key, property]) => {
    const value = defaultOf(property)
    return value === undefined ? [] : [[key, value] as const]
  })
  return entries.length === 0 ? undefined : Object.fromEntries(entries)
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
