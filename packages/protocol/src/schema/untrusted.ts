import { z } from 'zod'
import type { JsonValue } from '../json.ts'
import { exact, type Schema } from './exact.ts'
import { isPlainObject, jsonValueSchema } from './json.ts'

/**
 * The limits for messages of clients. Generous for people and programs, small enough that one message cannot fill the
 * memory. Texts are counted in UTF-16 units.
 */
export const LIMITS: {
  readonly id: number
  readonly name: number
  readonly title: number
  readonly text: number
  readonly attachments: number
  readonly attachmentData: number
  readonly commands: number
  readonly threads: number
  readonly jsonDepth: number
} = {
  id: 256,
  name: 256,
  title: 1_000,
  text: 1_000_000,
  attachments: 32,
  /** Base64 for 15 MB. */
  attachmentData: 20_000_000,
  commands: 100,
  threads: 1_000,
  jsonDepth: 64,
}

/** An id made by a client. It may become a key or a path segment, so it must not name a prototype. */
export const clientId: z.ZodString = z
  .string()
  .max(LIMITS.id)
  .regex(/^(?!(?:__proto__|prototype|constructor)$)[\s\S]+$/, 'This cannot be an id')

/** A name from a list: a mode, a model, an agent. */
export const clientName: z.ZodString = clientId.max(LIMITS.name)

export const clientText: z.ZodString = z.string().max(LIMITS.text)

export const mediaType: z.ZodString = z
  .string()
  .max(LIMITS.name)
  .regex(/^[\w.+-]+\/[\w.+-]+$/, 'Expected a media type')

/** Padded base64. The pattern is a single loop: one with groups overflows the stack on large files. */
export const base64: z.ZodString = z
  .string()
  .max(LIMITS.attachmentData)
  .regex(/^[A-Za-z0-9+/]+={0,2}$/, 'Expected base64')
  .refine((data) => data.length % 4 === 0, 'Expected padded base64')

/** JSON with limited nesting, so that later code can walk it by recursion. */
export const clientJson: Schema<JsonValue> = exact<JsonValue>()(
  jsonValueSchema.refine((value) => isShallow(value), 'Nested too deeply'),
)

function isShallow(value: unknown): boolean {
  let level: readonly unknown[] = [value]
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > LIMITS.jsonDepth) return false
    level = level.flatMap((item) => (typeof item === 'object' && item !== null ? Object.values(item) : []))
  }
  return true
}

/**
 * An object whose keys are ids of the sender. A forbidden key is refused, not dropped, because the sender meant
 * something by it.
 */
export function clientMap<T>(values: Schema<T>, limit: number): z.ZodPreprocess<z.ZodRecord<z.ZodString, Schema<T>>> {
  const map = z
    .record(clientId, values)
    .refine((value) => Object.keys(value).length <= limit, `Expected at most ${limit} entries`)
  return z.preprocess((value, context) => {
    if (isPlainObject(value) && Object.hasOwn(value, '__proto__')) {
      context.issues.push({ code: 'custom', message: 'This cannot be an id', path: ['__proto__'], input: value })
    }
    return value
  }, map)
}
