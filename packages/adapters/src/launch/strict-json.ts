/**
 * JSON that every parser takes: half a surrogate pair, which JavaScript may hold in a text and strict parsers refuse, is
 * written as U+FFFD.
 */
export function strictJson(value: unknown): string {
  return JSON.stringify(value, (_, each: unknown) => (typeof each === 'string' ? each.toWellFormed() : each))
}
