/** Any number of characters. */
export const ANY: unique symbol = Symbol('any')
/** Exactly one character. */
export const ONE: unique symbol = Symbol('one')

/** A list of characters and wildcards. */
export type Wildcard<T = string> = readonly (T | typeof ANY | typeof ONE)[]

/**
 * Returns whether the pattern matches the whole text. Only the last star is ever backtracked, which is enough and
 * limits the time to pattern × text, however hostile the text.
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

/** How a pattern is compared with another pattern. */
export interface Meeting<P, G> {
  readonly isSame: (expected: P, given: G) => boolean
  /** Returns whether a star of the given side may match this. */
  readonly isMatched: (expected: P) => boolean
}

/** Returns whether some text matches both patterns. The time is the product of their lengths. */
export function mayMeet<P, G>(pattern: Wildcard<P>, given: Wildcard<G>, meeting: Meeting<P, G>): boolean {
  return statesAfter(pattern, given, meeting).has(pattern.length)
}

/** Returns whether some text that matches the pattern begins with what is given. */
export function mayBegin<P, G>(pattern: Wildcard<P>, given: Wildcard<G>, meeting: Meeting<P, G>): boolean {
  return statesAfter(pattern, given, meeting).size > 0
}

/** Returns the positions in the pattern that can be reached after what is given. */
function statesAfter<P, G>(
  pattern: Wildcard<P>,
  given: Wildcard<G>,
  { isMatched, isSame }: Meeting<P, G>,
): Set<number> {
  let states = withSkips(pattern, new Set([0]))
  for (const token of given) {
    if (token === ANY) {
      // The set grows during the loop, which visits the new states as well.
      for (const state of states) {
        const expected = pattern[state]
        if (expected === undefined) continue
        if (expected === ANY || expected === ONE || isMatched(expected)) states.add(state + 1)
      }
      continue
    }
    const next = new Set<number>()
    for (const state of states) {
      const expected = pattern[state]
      if (expected === undefined) continue
      if (expected === ANY) next.add(state)
      else if (expected === ONE || token === ONE || isSame(expected, token)) next.add(state + 1)
    }
    states = withSkips(pattern, next)
  }
  return states
}

/** A star of the pattern may match nothing. */
function withSkips<P>(pattern: Wildcard<P>, states: Set<number>): Set<number> {
  for (const state of states) if (pattern[state] === ANY) states.add(state + 1)
  return states
}
