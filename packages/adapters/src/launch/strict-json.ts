/**
 * Returns JSON that every parser takes. Half a surrogate pair, which JavaScript strings may hold and strict parsers
 * refuse, is written as U+FFFD.
 */
export function strictJson(value: unknown): string {
  return JSON.stringify(value, (_, each: unknown) => (typeof each === 'string' ? each.toWellFormed() : each))
}
