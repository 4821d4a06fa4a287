/** Returns the fields that have a value. An optional field is left out rather than set to `undefined`. */
export function defined<Fields extends object>(
  fields: Fields,
): { [Name in keyof Fields]?: Exclude<Fields[Name], undefined> } {
  const kept: Partial<Fields> = {}
  for (const name in fields) {
    if (fields[name] !== undefined) kept[name] = fields[name]
  }
  return kept as { [Name in keyof Fields]?: Exclude<Fields[Name], undefined> }
}
