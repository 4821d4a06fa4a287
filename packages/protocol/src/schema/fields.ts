import { z } from 'zod'
import type { Schema } from './exact.ts'

/**
 * An object schema that keeps unknown keys, so that a record of a newer version passes through an older one without
 * losing what the older one cannot read. The type has only the known keys.
 */
export function object<Fields extends z.core.$ZodShape>(fields: Fields): z.ZodObject<Fields> {
  return z.looseObject(fields)
}

/** An absent key, not `undefined`: neither JSON nor our types have `undefined`. */
export function optional<S extends z.ZodType>(schema: S): z.ZodExactOptional<S> {
  return z.exactOptional(schema)
}

/** A union of schemas that differ by `type`. */
export function taggedUnion<const Options extends readonly Schema<{ readonly type: string }>[]>(
  options: Options,
): Schema<z.output<Options[number]>> {
  // All options are objects with a literal `type`, which their type `Schema` does not express.
  const tagged = options as unknown as [z.core.$ZodTypeDiscriminable, ...z.core.$ZodTypeDiscriminable[]]
  return z.discriminatedUnion('type', tagged) as unknown as Schema<z.output<Options[number]>>
}

export function listOf<T>(items: Schema<T>): z.ZodArray<Schema<T>> {
  return z.array(items)
}

/** An object used as a map. `__proto__` is dropped as a key, so that no lookup can reach a prototype through it. */
export function mapOf<T>(values: Schema<T>): z.ZodRecord<z.ZodString, Schema<T>> {
  return z.record(z.string(), values)
}

/** A position in a stream; 0 is before its first record. */
export const seq: z.ZodInt = z.int().min(0)

/**
 * An id or a name that becomes a path segment. Equivalent to `isSafeSegment`, but a pattern, so that the JSON Schema
 * contains it too.
 */
export const safeSegment: z.ZodString = z.string().regex(/^(?!(?:__proto__|prototype|constructor)$)[\s\S]+$/)
