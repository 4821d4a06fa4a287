import * as fc from 'fast-check'

type ShapeFields<T> = { readonly [K in keyof T]-?: fc.Arbitrary<Exclude<T[K], undefined>> }

/**
 * An object with all required fields and any selection of the optional ones. An absent field is really absent: neither
 * our types nor JSON use `undefined` for it.
 */
export function shape<T extends object>(
  required: ShapeFields<Pick<T, RequiredKeys<T>>>,
  optional: ShapeFields<Pick<T, OptionalKeys<T>>>,
): fc.Arbitrary<T> {
  const model: Record<string, fc.Arbitrary<unknown>> = { ...required, ...optional }
  return fc.record(model, {
    requiredKeys: Object.keys(required),
    noNullPrototype: true,
  }) as fc.Arbitrary<unknown> as fc.Arbitrary<T>
}

type OptionalKeys<T> = { [K in keyof T]-?: object extends Pick<T, K> ? K : never }[keyof T]
type RequiredKeys<T> = Exclude<keyof T, OptionalKeys<T>>

/** An object used as a map: any number of entries up to `maxKeys`. */
export function mapOf<T>(
  keys: fc.Arbitrary<string>,
  values: fc.Arbitrary<T>,
  maxKeys = 3,
): fc.Arbitrary<{ readonly [key: string]: T }> {
  return fc.dictionary(keys, values, { maxKeys, noNullPrototype: true })
}

export function listOf<T>(items: fc.Arbitrary<T>, maxLength = 3): fc.Arbitrary<readonly T[]> {
  return fc.array(items, { maxLength })
}
