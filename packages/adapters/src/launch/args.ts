/** Returns a command line option with its value, or nothing if the value is `undefined`. */
export function flag(name: string, value: string | undefined): readonly string[] {
  return value === undefined ? [] : [name, value]
}
