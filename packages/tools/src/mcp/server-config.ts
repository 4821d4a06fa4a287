import { InspanError } from '@inspan/protocol'
import { MCP_RECONNECTION_DEFAULTS, type MCPServerConfig } from '@inspan/protocol/chat'
import { isDeepStrictEqual } from 'node:util'

/** Milliseconds for connecting to a server and listing its tools. */
const DEFAULT_TIMEOUT_MS = 30_000

export function timeoutOf({ timeout }: MCPServerConfig): number {
  return timeout ?? DEFAULT_TIMEOUT_MS
}

/** Throws if the configuration cannot work, whatever the server does. */
export function checkServer(name: string, config: MCPServerConfig): void {
  const given: unknown = config
  if (typeof given !== 'object' || given === null) throw wrong(name, 'is no object')
  const { timeout } = config
  if (timeout !== undefined && (typeof timeout !== 'number' || !(timeout > 0))) {
    throw wrong(name, 'has a `timeout` that is not a number of milliseconds above 0')
  }
  if (config.type === 'stdio') {
    const { args = [], command, env = {} } = config
    if (typeof command !== 'string' || command === '') throw wrong(name, 'has no `command`')
    if (!Array.isArray(args) || args.some((arg) => typeof arg !== 'string')) {
      throw wrong(name, 'has `args` that are not a list of texts')
    }
    if (!areTexts(env)) throw wrong(name, 'has an `env` that is not texts by name')
  } else if (config.type === 'remote') {
    const url = URL.parse(String(config.url))
    if (url === null || !/^https?:$/.test(url.protocol))
      throw wrong(name, 'has no `url` that begins with http:// or https://')
    if (!areTexts(config.headers ?? {})) throw wrong(name, 'has `headers` that are not texts by name')
  } else throw wrong(name, 'has a `type` other than stdio and remote')
}

function areTexts(values: object): boolean {
  return (
    typeof values === 'object' && values !== null && Object.values(values).every((value) => typeof value === 'string')
  )
}

function wrong(name: string, what: string): InspanError {
  return new InspanError('invalid-input', `MCP server "${name}" ${what}.`, {
    hint: "Use { type: 'stdio', command, args?, env? } or { type: 'remote', url, headers? }.",
  })
}

/** Whether a client of the one can be kept for the other. */
export function isSameServer(a: MCPServerConfig, b: MCPServerConfig): boolean {
  return isDeepStrictEqual(comparable(a), comparable(b))
}

function comparable(config: MCPServerConfig): unknown {
  const { enabled = true } = config
  if (config.type === 'stdio') {
    const { args = [], command, env = {}, timeout } = config
    return { type: 'stdio', args: [...args], command, env: { ...env }, enabled, timeout: timeout ?? null }
  }
  const { headers = {}, reconnectionOptions, timeout, url } = config
  const reconnection = { ...MCP_RECONNECTION_DEFAULTS, ...defined(reconnectionOptions ?? {}) }
  return { type: 'remote', headers: { ...headers }, reconnection, url: String(url), enabled, timeout: timeout ?? null }
}

function defined(options: object): object {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined))
}

/** Adds the defaults for what is not given. */
export function reconnectionOf(config: Extract<MCPServerConfig, { type: 'remote' }>): typeof MCP_RECONNECTION_DEFAULTS {
  return { ...MCP_RECONNECTION_DEFAULTS, ...defined(config.reconnectionOptions ?? {}) }
}
