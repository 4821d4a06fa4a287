/** True when the types hold the same values under the same keys, optional ones included. */
export type Equal<A, B> = Fits<[A, keyof A], [B, keyof B]> extends true ? Fits<[B, keyof B], [A, keyof A]> : false

type Fits<A, B> = A extends B ? true : false

export type IsUnion<T, All = T> = T extends unknown ? ([All] extends [T] ? false : true) : never

/** For checks that the compiler makes: `holds(true satisfies Equal<A, B>)`. */
export function holds(_check: boolean): void {}
