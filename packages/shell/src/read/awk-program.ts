/**
 * True when nothing in the program could run a program, read or write a file, or load code. Checks characters, not
 * grammar: `$3 > 10` passes, `print $3 > 10` (which writes a file called 10) does not.
 */
export function isPureAwk(program: string): boolean {
  if (/system|getline|@|close|fflush|ARG[CV]/.test(program)) return false
  if (/(?:^|[^|])\|(?!\|)/.test(program)) return false
  return !redirectsOutput(program)
}

/** The end of a statement, outside strings and patterns. A line that ends with a comma continues. */
const ENDS = /[;}]|[^\s,&|]\s*\n/
const PLAIN_TEXT = /"[^"\\;}\n]*"/g
/** With one of these left, the text may still be inside a string, pattern or comment, which is not worked out here. */
const UNCLEAR = /["\\/#]/

/** True when a `>` may belong to a `print`. */
function redirectsOutput(program: string): boolean {
  for (let at = program.indexOf('print'); at !== -1;) {
    const next = program.indexOf('print', at + 1)
    const arrow = program.indexOf('>', at)
    if (arrow === -1) return false
    if (next === -1 || arrow < next) {
      const between = program.slice(at, arrow).replace(PLAIN_TEXT, '')
      if (UNCLEAR.test(between) || !ENDS.test(between)) return true
    }
    at = next
  }
  return false
}
