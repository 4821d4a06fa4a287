/** The words of a text as a set: lists of programs are easier to read so. */
export function wordList(text: string): ReadonlySet<string> {
  return new Set(text.split(/\s+/))
}
