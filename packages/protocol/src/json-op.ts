import { InspanError } from './errors.ts'
import type { JsonObject, JsonValue } from './json.ts'
import type { Op } from './op.ts'

/** Applies an op inside plain JSON and copies only what lies on the path. */
export function applyToJson(value: JsonValue | undefined, op: Op, depth: number): JsonValue {
  const key = op.path[depth]
  if (key === undefined) {
    if (op.type === 'set') return op.value
    if (op.type === 'append-text' && typeof value === 'string') return value + op.value
    throw badOp(op, 'the place does not hold a text')
  }
  if (value === null || typeof value !== 'object' || Array.isArray(value)) throw badOp(op, 'there is no such place')
  const object = value as JsonObject
  if (op.type === 'remove' && depth === op.path.length - 1) {
    const { [key]: _removed, ...kept } = object
    return kept
  }
  return { ...object, [key]: applyToJson(Object.hasOwn(object, key) ? object[key] : undefined, op, depth + 1) }
}

export function isObject(value: JsonValue): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function badOp(op: Op, why: string): InspanError {
  return new InspanError('invalid-input', `Op "${op.type}" at ${op.path.join('/')} cannot be applied: ${why}.`, {
    hint: 'The replica has diverged: read a new snapshot.',
    details: { path: op.path },
  })
}
