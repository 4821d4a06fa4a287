import type { JsonObject, JsonValue } from '@inspan/protocol'

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Returns what a reference within the same schema refers to; `undefined` if it does not exist or is external. */
export function resolveRef(root: JsonObject, ref: string): JsonValue | undefined {
  if (ref === '#') return root
  if (!ref.startsWith('#')) return undefined
  const name = decode(ref.slice(1))
  if (!name.startsWith('/')) return findAnchor(root, name)
  let found: JsonValue | undefined = root
  for (const token of name.slice(1).split('/')) {
    const key = token.replaceAll('~1', '/').replaceAll('~0', '~')
    if (Array.isArray(found)) found = found[Number(key)]
    else found = isObject(found) && Object.hasOwn(found, key) ? found[key] : undefined
  }
  return found
}

function findAnchor(schema: JsonValue, name: string): JsonObject | undefined {
  if (isObject(schema) && (schema['$anchor'] === name || schema['$id'] === `#${name}`)) return schema
  const inside: readonly JsonValue[] = Array.isArray(schema) ? schema : isObject(schema) ? Object.values(schema) : []
  for (const each of inside) {
    const found = findAnchor(each, name)
    if (found !== undefined) return found
  }
  return undefined
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
