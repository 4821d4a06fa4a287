/** What a setting of Codex can be. */
export type TomlValue = string | number | boolean | readonly TomlValue[] | { readonly [key: string]: TomlValue }

/** A value on one line, as `-c key=value` takes it. */
export function toToml(value: TomlValue): string {
  if (typeof value === 'string') return tomlString(value)
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  if (isList(value)) return `[${value.map(toToml).join(',')}]`
  return `{${Object.entries(value)
    .map(([key, item]) => `${tomlString(key)}=${toToml(item)}`)
    .join(',')}}`
}

/** JSON and TOML escape alike, but TOML knows no lone surrogates and wants DEL escaped. */
function tomlString(text: string): string {
  return JSON.stringify(text.toWellFormed()).replaceAll('\u007f', String.raw`\u007F`)
}

function isList(value: TomlValue): value is readonly TomlValue[] {
  return Array.isArray(value)
}
