import { toErrorData, type JsonObject, type JsonValue } from '@inspan/protocol'

/** A value as JSON, and whether nothing was lost in the conversion. */
export interface AsJson {
  readonly value: JsonValue
  readonly isExact: boolean
}

/** Nobody reads anything nested deeper than this. */
const MAX_DEPTH = 64

/** Converts a value so that it can be recorded and sent. Never throws, whatever the value does. */
export function toJson(value: unknown): AsJson {
  const converter = new Converter()
  const json = converter.convert(value ?? null, 0)
  return { value: json, isExact: converter.isExact }
}

class Converter {
  isExact = true
  readonly #above = new Set<object>()

  convert(value: unknown, depth: number): JsonValue {
    switch (typeof value) {
      case 'string':
      case 'boolean':
        return value
      case 'number':
        return Number.isFinite(value) ? value : this.#inexact(null)
      case 'bigint':
        return this.#inexact(String(value))
      case 'object':
        return value === null ? null : this.#object(value, depth)
      default:
        return this.#inexact(null)
    }
  }

  #object(value: object, depth: number): JsonValue {
    if (this.#above.has(value) || depth > MAX_DEPTH) return this.#inexact('[Circular]')
    this.#above.add(value)
    try {
      return this.#contents(value, depth + 1)
    } catch (error) {
      return this.#inexact(error instanceof Error ? error.message : 'unreadable')
    } finally {
      this.#above.delete(value)
    }
  }

  #contents(value: object, depth: number): JsonValue {
    if (Array.isArray(value)) return value.map((item) => this.convert(item, depth))
    if ('toJSON' in value && typeof value.toJSON === 'function') return this.convert(value.toJSON(), depth)
    if (value instanceof Error) return this.#inexact(this.convert(toErrorData(value), depth))
    if (value instanceof Map) return this.#inexact(this.#fields(value, depth))
    if (value instanceof Set) return this.#inexact([...value].map((item) => this.convert(item, depth)))
    if (ArrayBuffer.isView(value)) {
      return this.#inexact(Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('base64'))
    }
    const entries = Object.entries(value)
    // The content of a stream, a promise, a regular expression … is not in its fields.
    if (entries.length === 0 && !isPlain(value)) return this.#inexact(Object.prototype.toString.call(value))
    return this.#fields(entries, depth)
  }

  /** Leaves out undefined fields, as JSON does. */
  #fields(entries: Iterable<readonly [unknown, unknown]>, depth: number): JsonObject {
    const fields: [string, JsonValue][] = []
    for (const [key, item] of entries) {
      if (item !== undefined) fields.push([String(key), this.convert(item, depth)])
    }
    return Object.fromEntries(fields)
  }

  #inexact<T extends JsonValue>(value: T): T {
    this.isExact = false
    return value
  }
}

/** True for plain objects, and for class instances without a tag of their own. */
function isPlain(value: object): boolean {
  return Object.prototype.toString.call(value) === '[object Object]'
}
