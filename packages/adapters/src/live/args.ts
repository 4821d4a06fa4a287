/** Returns the arguments without these options and their values. */
export function withoutFlags(args: readonly string[], names: ReadonlySet<string>): readonly string[] {
  return args.filter((arg, index) => !names.has(arg) && !names.has(args[index - 1] ?? ''))
}

/** Returns only these options, each with its value. */
export function onlyFlags(args: readonly string[], names: ReadonlySet<string>): readonly string[] {
  return args.filter((arg, index) => names.has(arg) || names.has(args[index - 1] ?? ''))
}
