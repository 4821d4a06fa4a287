import { z } from 'zod'
import type { Schema } from './exact.ts'

/**
 * An object that keeps keys it does not know. A record written by a newer version passes through an older one without
 * losing what the older one cannot read; its type names only what is known.
 */
export function object<Fields extends z.core.$ZodShape>(fields: Fields): z.ZodObject<Fields> {
  return z.looseObject(fields)
}

/** Absent, not `undefined`: JSON has no `undefined`, and neither have our types. */
export function optional<S extends z.ZodType>(schema: S): z.ZodExactOptional<S> {
  return z.exactOptional(schema)
}

/** Schemas told apart by their `type`. */
export function taggedUnion<const Options extends readonly Schema<{ readonly type: string }>[]>(
  options: Options,
): Schema<z.output<Options[number]>> {
  // All of them are objects with a literal `type`, which the plain schema type does not say.
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

/** A place in a stream; 0 is before its first record. */
export const seq: z.ZodInt = z.int().min(0)

/**
 * An id or a name that becomes a path segment. The same as `isSafeSegment`, as a pattern, so that the JSON Schema says it
 * too.
 */
export const safeSegment: z.ZodString = z.string().regex(/^(?!(?:__proto__|prototype|constructor)$)[\s\S]+$/)
