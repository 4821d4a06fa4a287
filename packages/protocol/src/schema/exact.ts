import type { z } from 'zod'

/** A schema for `T`. Its type does not say what it was built from, which keeps declarations readable and fast. */
export type Schema<T> = z.ZodType<T>

/** The fields of an object, to be shared between objects. */
export type Shape<T> = {
  readonly [K in keyof T]-?: object extends Pick<T, K> ? z.ZodExactOptional<Schema<Defined<T[K]>>> : Schema<T[K]>
}

type Defined<T> = Exclude<T, undefined>

/**
 * The form in which two types are compared. Everything becomes readonly, because our types are and parsed values need
 * not be, and intersections become the object they mean. Optional stays optional: `a?: T` and `a?: T | undefined`
 * differ.
 */
type Normal<T> = T extends readonly (infer Item)[]
  ? readonly Normal<Item>[]
  : T extends object
    ? { readonly [K in keyof T]: Normal<T[K]> }
    : T

/**
 * True for identical types. Being assignable both ways is not enough: `any` and an extra optional field would pass. The
 * compiler checks identity only when it compares conditional types inside two function types, and only if they are
 * written out, without an alias.
 */
export type Same<A, B> =
  (<X>(value: X) => X extends Normal<A> ? 1 : 2) extends <X>(value: X) => X extends Normal<B> ? 1 : 2 ? true : false

/** Replaces the parameter type when a schema does not parse exactly `Expected`. */
export interface Mismatch<Expected, Actual> {
  readonly expected: Expected
  readonly actual: Actual
}

/**
 * Accepts a schema only if its parsed type is exactly `T`, so that schema and type cannot drift apart. An annotation
 * alone would allow a schema that accepts too little.
 */
export function exact<T>(): <S extends z.ZodType>(
  schema: Same<z.output<S>, T> extends true ? S : Mismatch<T, z.output<S>>,
) => Schema<T> {
  return (schema) => schema as unknown as Schema<T>
}

/** Like `exact`, for the fields of an object. */
export function exactShape<T>(): <F extends z.core.$ZodShape>(
  fields: Same<z.output<z.ZodObject<F>>, T> extends true ? F : Mismatch<T, z.output<z.ZodObject<F>>>,
) => Shape<T> {
  return (fields) => fields as unknown as Shape<T>
}
