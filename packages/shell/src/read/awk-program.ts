/**
 * True when nothing in the text could run a program, read or write a file, or load code. It looks at the letters, not at
 * the grammar: `$3 > 10` passes, `print $3 > 10` (which writes a file called 10) does not.
 */
export function isPureAwk(program: string): boolean {
  if (/system|getline|@|close|fflush/.test(program)) return false
  if (/(?:^|[^|])\|(?!\|)/.test(program)) return false
  return !program.split(/[;}\n]/).some(redirectsOutput)
}

function redirectsOutput(statement: string): boolean {
  const print = statement.indexOf('print')
  return print !== -1 && statement.includes('>', print)
}
