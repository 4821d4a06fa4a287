import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Environment } from '../launch/find-cli.ts'

/** Which model is asked, and how. */
const MODEL_KEYS: ReadonlySet<string> = new Set([
  'model',
  'model_provider',
  'model_reasoning_effort',
  'model_reasoning_summary',
  'model_verbosity',
  'openai_base_url',
])
/** Where it is asked. Keys and headers with keys are left out: arguments can be seen by every user of the machine. */
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
/** A value that ends on its line: text, a number, a flag, an inline table; then perhaps a comment. */
const VALUE = /^("(?:[^"\\]|\\.)*"|'[^']*'|-?[\d_.]+|true|false|\{[^{}]*\})\s*(?:#.*)?$/
const LONG_TEXT = /"""|'''/

/**
 * The provider that the user has chosen, as settings for `-c`. His configuration as a whole is not used, as it may allow
 * what we do not; but whom the program asks is the user's to say. Keys are read from where the provider says they are.
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

/** What of a `config.toml` says which model is asked, and where. */
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

/** Values by table and key, as they stand; those over several lines are left out. */
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
