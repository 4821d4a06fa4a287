/** Returns the defaults in a JSON Schema, also of nested objects. */
export function schemaDefaults(schema: unknown): Record<string, unknown> {
  const defaults = schema === undefined ? undefined : defaultOf(schema)
  return isObject(defaults) ? { ...defaults } : {}
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
