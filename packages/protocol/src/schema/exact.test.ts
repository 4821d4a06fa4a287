import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { z } from 'zod'
import type { ErrorData } from '../error-data.ts'
import { exact, exactShape, type Same } from './exact.ts'
import { object, optional, taggedUnion } from './fields.ts'

/** These are proofs by the compiler: a line whose expected error goes away no longer compiles. */
suite('exact takes a schema only for the very type it parses', () => {
  test('refuses a schema that is too narrow, too wide or different', () => {
    const text = object({ a: z.string() })
    exact<{ readonly a: string }>()(text)
    // @ts-expect-error The type has a field that the schema does not check.
    exact<{ readonly a: string; readonly b: string }>()(text)
    // @ts-expect-error The schema has a field that the type does not know.
    exact<{ readonly a: string }>()(object({ a: z.string(), b: optional(z.string()) }))
    // @ts-expect-error Required in the schema, optional in the type.
    exact<{ readonly a?: string }>()(text)
    // @ts-expect-error `undefined` is not the same as absent.
    exact<{ readonly a?: string }>()(object({ a: z.optional(z.string()) }))
    // @ts-expect-error The schema accepts only one of two values.
    exact<{ readonly a: 'x' | 'y' }>()(object({ a: z.literal('x') }))
    // @ts-expect-error The schema accepts more values than the type has.
    exact<{ readonly a: 'x' }>()(object({ a: z.enum(['x', 'y']) }))
    // @ts-expect-error `any` hides everything.
    exact<{ readonly a: string }>()(object({ a: z.any() }))
    // @ts-expect-error `unknown` is no type either.
    exact<{ readonly a: string }>()(object({ a: z.unknown() }))
    // @ts-expect-error A difference deep inside counts too.
    exact<{ readonly a: readonly { readonly b?: string }[] }>()(object({ a: z.array(text) }))
    assert.deepEqual(text.parse({ a: 'x' }), { a: 'x' })
  })

  test('refuses a union that lacks a variant', () => {
    type Shape = { readonly type: 'circle'; readonly r: number } | { readonly type: 'square'; readonly a: number }
    const circle = object({ type: z.literal('circle'), r: z.number() })
    const square = object({ type: z.literal('square'), a: z.number() })
    const both = exact<Shape>()(taggedUnion([circle, square]))
    // @ts-expect-error The squares are missing.
    exact<Shape>()(taggedUnion([circle]))
    assert.deepEqual(both.parse({ type: 'square', a: 1 }), { type: 'square', a: 1 })
  })

  test('refuses an object whose fields differ', () => {
    exactShape<{ readonly a?: string }>()({ a: optional(z.string()) })
    // @ts-expect-error Required in the fields, optional in the type.
    exactShape<{ readonly a?: string }>()({ a: z.string() })
    // @ts-expect-error The fields accept only one of two values.
    exactShape<{ readonly a: 'x' | 'y' }>()({ a: z.literal('x') })
  })

  test('whatever is readonly or written as an intersection', () => {
    const proofs: [
      Same<{ a: string[] }, { readonly a: readonly string[] }>,
      Same<{ a: string } & { b?: number }, { readonly a: string; readonly b?: number }>,
      Same<{ a?: string } & { a: string }, { readonly a: string }>,
      Same<ErrorData, ErrorData>,
    ] = [true, true, true, true]
    assert.ok(proofs.every(Boolean))
  })
})
