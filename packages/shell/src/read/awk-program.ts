/**
 * True when nothing in the text could run a program, read or write a file, or load code. It looks at the letters, not at
 * the grammar: `$3 > 10` passes, `print $3 > 10` (which writes a file called 10) does not.
 */
export function isPureAwk(program: string): boolean {
  if (/system|getline|@|close|fflush/.test(program)) return false
  if (/(?:^|[^|])\|(?!\|)/.test(program)) return false
  return !redirectsOutput(program)
}

/** It ends a statement, outside of texts and patterns. A line that ends with a comma goes on. */
const ENDS = /[;}]|[^\s,&|]\s*\n/
const PLAIN_TEXT = /"[^"\\;}\n]*"/g
/** Whether what is left is still inside of a text, a pattern or a remark is not worked out here. */
const UNCLEAR = /["\\/#]/

/** A `print` and the `>` that may belong to it. */
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
