import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Environment } from '../launch/find-cli.ts'

/** Settings for the model. */
const MODEL_KEYS: ReadonlySet<string> = new Set([
  'model',
  'model_provider',
  'model_reasoning_effort',
  'model_reasoning_summary',
  'model_verbosity',
  'openai_base_url',
])
/** Settings for the provider, without keys and headers with keys: every user of the machine can see arguments. */
const PROVIDER_KEYS: ReadonlySet<string> = new Set([
  'name',
  'base_url',
  'env_key',
  'env_http_headers',
  'query_params',
  'request_max_retries',
  'requires_openai_auth',
  'stream_idle_timeout_ms',
  'stream_max_retries',
  'supports_websockets',
  'wire_api',
])

const TABLE = /^\[\s*([\w.-]+)\s*\]\s*(?:#.*)?$/
const SETTING = /^([\w-]+)\s*=\s*(.+)$/
const PROVIDER = /^model_providers\.[\w-]+$/
/** A value that ends on its line: text, a number, a flag or an inline table, perhaps with a comment. */
const VALUE = /^("(?:[^"\\]|\\.)*"|'[^']*'|-?[\d_.]+|true|false|\{[^{}]*\})\s*(?:#.*)?$/
const LONG_TEXT = /"""|'''/

/**
 * Returns the provider that the user chose, as settings for `-c`. The rest of the user's configuration may allow what
 * we do not, so it is not used. Keys are read from where the provider's settings say.
 */
export function ownProvider(env: Environment): readonly string[] {
  const home = env['HOME'] ?? env['USERPROFILE']
  const folder = env['CODEX_HOME'] ?? (home === undefined ? undefined : join(home, '.codex'))
  if (folder === undefined) return []
  try {
    return providerSettings(readFileSync(join(folder, 'config.toml'), 'utf8'))
  } catch {
    return []
  }
}

/** Returns the settings of a `config.toml` for the model and its provider. */
export function providerSettings(config: string): readonly string[] {
  const tables = readTables(config)
  const top = tables.get('') ?? new Map<string, string>()
  const profile = /^["']([\w-]+)["']$/.exec(top.get('profile') ?? '')?.[1]
  const chosen = profile === undefined ? undefined : tables.get(`profiles.${profile}`)
  const settings: string[] = []
  for (const [key, value] of new Map([...top, ...(chosen ?? [])])) {
    if (MODEL_KEYS.has(key)) settings.push(`${key}=${value}`)
  }
  for (const [table, values] of tables) {
    if (!PROVIDER.test(table)) continue
    for (const [key, value] of values) if (PROVIDER_KEYS.has(key)) settings.push(`${table}.${key}=${value}`)
  }
  return settings
}

/** Returns the values by table and key, unparsed. Leaves out values that span several lines. */
function readTables(config: string): ReadonlyMap<string, ReadonlyMap<string, string>> {
  const tables = new Map<string, Map<string, string>>()
  let table: string | undefined = ''
  let longText: string | undefined
  for (const line of config.split('\n').map((each) => each.trim())) {
    if (longText !== undefined) {
      if (line.includes(longText)) longText = undefined
      continue
    }
    if (line.startsWith('[')) {
      table = TABLE.exec(line)?.[1]
      continue
    }
    const [, key, text = ''] = SETTING.exec(line) ?? []
    const quotes = LONG_TEXT.exec(text)?.[0]
    if (quotes !== undefined && text.split(quotes).length % 2 === 0) longText = quotes
    const value = VALUE.exec(text)?.[1]
    if (table === undefined || key === undefined || value === undefined) continue
    const values = tables.get(table) ?? new Map<string, string>()
    tables.set(table, values.set(key, value))
  }
  return tables
}
