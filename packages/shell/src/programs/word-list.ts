/** Returns the words of a text as a set: lists of programs are easier to read like that. */
export function wordList(text: string): ReadonlySet<string> {
  return new Set(text.split(/\s+/))
}
