/** True when the types hold the same values. */
export type Equal<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false

export type IsUnion<T, All = T> = T extends unknown ? ([All] extends [T] ? false : true) : never

/** For checks that the compiler makes: `holds(true satisfies Equal<A, B>)`. */
export function holds(_check: true): void {}
