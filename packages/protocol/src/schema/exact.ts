import type { z } from 'zod'

/** A schema for `T`. What it was built from is not part of its type, which keeps declarations readable and fast. */
export type Schema<T> = z.ZodType<T>

/** The fields of an object, for objects that share some of them. */
export type Shape<T> = {
  readonly [K in keyof T]-?: object extends Pick<T, K> ? z.ZodExactOptional<Schema<Defined<T[K]>>> : Schema<T[K]>
}

type Defined<T> = Exclude<T, undefined>

/**
 * What two types are compared by. Everything becomes readonly, because our types are and parsed values need not be, and
 * intersections become the one object they mean. Optional stays optional: `a?: T` and `a?: T | undefined` differ.
 */
type Normal<T> = T extends readonly (infer Item)[]
  ? readonly Normal<Item>[]
  : T extends object
    ? { readonly [K in keyof T]: Normal<T[K]> }
    : T

/**
 * Assignable both ways is not enough: `any` and an extra optional field would pass. The compiler asks for identity only
 * where conditional types of two function types are compared, and only if they are written out, without an alias.
 */
export type Same<A, B> =
  (<X>(value: X) => X extends Normal<A> ? 1 : 2) extends <X>(value: X) => X extends Normal<B> ? 1 : 2 ? true : false

/** Stands where a schema was expected that parses exactly `Expected`. */
export interface Mismatch<Expected, Actual> {
  readonly expected: Expected
  readonly actual: Actual
}

/**
 * Takes a schema only if what it parses is `T`, no more and no less, so that schema and type cannot drift apart. An
 * annotation alone would let a schema pass that accepts too little.
 */
export function exact<T>(): <S extends z.ZodType>(
  schema: Same<z.output<S>, T> extends true ? S : Mismatch<T, z.output<S>>,
) => Schema<T> {
  return (schema) => schema as unknown as Schema<T>
}

/** The same for the fields of an object. */
export function exactShape<T>(): <F extends z.core.$ZodShape>(
  fields: Same<z.output<z.ZodObject<F>>, T> extends true ? F : Mismatch<T, z.output<z.ZodObject<F>>>,
) => Shape<T> {
  return (fields) => fields as unknown as Shape<T>
}
