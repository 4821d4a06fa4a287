/** A value of a Codex setting. */
export type TomlValue = string | number | boolean | readonly TomlValue[] | { readonly [key: string]: TomlValue }

/** Returns a value on one line, for `-c key=value`. */
export function toToml(value: TomlValue): string {
  if (typeof value === 'string') return tomlString(value)
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  if (isList(value)) return `[${value.map(toToml).join(',')}]`
  return `{${Object.entries(value)
    .map(([key, item]) => `${tomlString(key)}=${toToml(item)}`)
    .join(',')}}`
}

/** JSON and TOML escape alike, but TOML has no lone surrogates and requires DEL to be escaped. */
function tomlString(text: string): string {
  return JSON.stringify(text.toWellFormed()).replaceAll('\u007f', String.raw`\u007F`)
}

function isList(value: TomlValue): value is readonly TomlValue[] {
  return Array.isArray(value)
}
