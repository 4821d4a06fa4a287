/** Any number of characters. */
export const ANY: unique symbol = Symbol('any')
/** Exactly one character. */
export const ONE: unique symbol = Symbol('one')

/** Characters and wildcards, one by one. */
export type Wildcard<T = string> = readonly (T | typeof ANY | typeof ONE)[]

/**
 * Whether the whole text is what the pattern describes. Only the last star is ever taken back, which is enough and keeps
 * the time at pattern × text, whatever a hostile text looks like.
 */
export function matchesWildcard<P, T>(
  pattern: Wildcard<P>,
  text: ArrayLike<T>,
  isSame: (expected: P, given: T) => boolean,
): boolean {
  let at = 0
  let next = 0
  let star = -1
  let resume = 0
  while (at < text.length) {
    const expected = pattern[next]
    const given = text[at]
    if (next < pattern.length && expected === ANY) {
      star = next
      next += 1
      resume = at
    } else if (
      next < pattern.length &&
      given !== undefined &&
      (expected === ONE || (expected !== undefined && expected !== ANY && isSame(expected, given)))
    ) {
      at += 1
      next += 1
    } else if (star !== -1) {
      next = star + 1
      resume += 1
      at = resume
    } else {
      return false
    }
  }
  while (next < pattern.length && pattern[next] === ANY) next += 1
  return next === pattern.length
}

export function matchesText(pattern: Wildcard, text: string): boolean {
  return matchesWildcard(pattern, text, (expected, given) => expected === given)
}
