/** An option of a command line and its value; nothing when there is none. */
export function flag(name: string, value: string | undefined): readonly string[] {
  return value === undefined ? [] : [name, value]
}
