const SAFE = /^[A-Za-z0-9_@%+=:,./-]+$/

/** Returns a command line that a POSIX shell splits into exactly these arguments. */
export function quote(args: readonly string[]): string {
  return args.map(quoteArgument).join(' ')
}

function quoteArgument(argument: string, index: number): string {
  // `a=b` in the first place would be an assignment, not a program.
  if (SAFE.test(argument) && !(index === 0 && argument.includes('='))) return argument
  return `'${argument.replaceAll("'", `'\\''`)}'`
}
