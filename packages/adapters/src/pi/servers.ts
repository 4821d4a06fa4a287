import { InspanError, type JsonObject } from '@inspan/protocol'
import type { MCPConfiguration, MCPServerConfig } from '@inspan/protocol/chat'
import type { McpTool } from '../launch/offered-tools.ts'
import type { PrivateFile } from '../launch/private-dir.ts'

/** What Pi is started with so that it has these MCP servers and no others of its user. */
export interface PiServers {
  readonly files: readonly PrivateFile[]
  /** Patterns for `--tools`: once one begins with `mcp__`, Pi offers no other tool of a server. */
  readonly tools: readonly string[]
}

/** Longer than Pi's own ten seconds: a server that `npx` has to download first takes more. */
const SERVER_SECONDS = 60

/** Returns an extension that registers the servers for one session: Pi has no option that names them. */
export function piServers(servers: MCPConfiguration, denied: readonly McpTool[]): PiServers {
  const names = Object.keys(servers)
  if (names.length === 0) return { files: [], tools: [] }
  const configs = Object.entries(servers).map(([name, server]) => [name, configOf(name, server, denied)])
  const content = [
    'export default (pi) => {',
    `  for (const [name, config] of ${JSON.stringify(configs)}) pi.registerMcpServer(name, config)`,
    '}',
  ]
  return {
    files: [{ name: 'servers.mjs', content: content.join('\n') }],
    tools: names.map((name) => `mcp__${name.replaceAll(/\W/g, '_')}__*`),
  }
}

function configOf(name: string, server: MCPServerConfig, denied: readonly McpTool[]): JsonObject {
  const hidden = denied.filter((tool) => tool.server === name).map(({ tool }) => [tool, 'hidden'])
  return {
    ...(server.type === 'stdio'
      ? { command: server.command, args: server.args ?? [], env: literal(name, server.env) }
      : { url: String(server.url), headers: literal(name, server.headers) }),
    timeout: Math.max(SERVER_SECONDS, Math.ceil((server.timeout ?? 0) / 1_000)),
    exposure: 'direct',
    toolExposure: Object.fromEntries(hidden) as JsonObject,
  }
}

/** Pi would replace a variable in a value, and run a value that begins with an exclamation mark. */
function literal(name: string, values: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> {
  const active = Object.keys(values).filter((key) => /^\s*!|\$\{/.test(values[key] ?? ''))
  if (active.length === 0) return values
  throw new InspanError(
    'unsupported',
    `Pi would not pass on ${active.join(', ')} of the MCP server "${name}" as written.`,
    {
      hint: 'Pi runs values that begin with "!" and replaces "${…}" in them. Give the server these values in another way.',
      details: { server: name, keys: active },
    },
  )
}
