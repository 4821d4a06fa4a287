import { join } from 'node:path'
import type { MCPServerConfig } from '@inspan/protocol/chat'
import { flag } from '../launch/args.ts'
import type { LaunchPlan, LaunchRequest } from '../launch/launch-plan.ts'
import { MAX_ARGUMENT_BYTES } from '../launch/plan-limits.ts'
import type { PrivateFile } from '../launch/private-dir.ts'
import { imageEnding, promptOf } from '../launch/prompt.ts'
import { ownServer } from '../launch/own-server.ts'
import { codexProfile } from './profile.ts'
import { codexRules, type CodexRules } from './rules.ts'
import { toToml, type TomlValue } from './toml.ts'

export interface CodexLaunchOptions {
  /**
   * Read the user's configuration and command rules. Default: false, as they may allow what our rules do not. The login,
   * the model and its provider are used in any case.
   */
  readonly userConfig?: boolean
  /** Settings by dotted name, as for `codex -c`. */
  readonly config?: Readonly<Record<string, TomlValue>>
  /** Further command line arguments. */
  readonly args?: readonly string[]
}

/** Our tools may wait for people. */
const LONGEST_SECONDS = 2_000_000

const MAX_INSTRUCTIONS_BYTES = MAX_ARGUMENT_BYTES - 'developer_instructions='.length

/** By default Codex waits one second, and starts without the tools of servers that take longer. */
const WAIT_FOR_SERVERS = { mcp_optional_startup_grace_ms: 0 }

/**
 * Returns how to start `codex exec` for one turn. The prompt goes to standard input: it may be long, and is hidden
 * there. `provider`: the settings for the provider that the user chose, for when the user's configuration is not read.
 */
export function launchCodex(
  request: LaunchRequest,
  options: CodexLaunchOptions = {},
  provider: readonly string[] = [],
): LaunchPlan {
  const { title } = codexProfile
  const { userConfig = false, config = {}, args = [] } = options
  const { session, instructions } = request
  const rules = codexRules(request, title, userConfig)
  const { text, images } = promptOf(request.input, title)
  const pictures = images.map(({ mimeType, data }, index): PrivateFile => ({
    name: `image-${index + 1}.${imageEnding(mimeType)}`,
    content: Buffer.from(data, 'base64'),
  }))
  const schema: PrivateFile | undefined =
    request.output === undefined
      ? undefined
      : { name: 'output-schema.json', content: JSON.stringify(request.output.schema) }
  const secrets = new Map<string, string>()
  const servers = { ...mcpServers(rules, secrets), ...ownTools(request, secrets) }
  // Codex takes no file for instructions, so long ones go before the prompt.
  const isLong = Buffer.byteLength(toToml(instructions ?? '')) > MAX_INSTRUCTIONS_BYTES
  const settings: Record<string, TomlValue> = {
    sandbox_mode: rules.sandbox,
    approval_policy: 'never',
    ...(request.effort === undefined ? {} : { model_reasoning_effort: request.effort }),
    ...(rules.hasWebSearch ? {} : { web_search: 'disabled' }),
    ...(instructions === undefined || isLong ? {} : { developer_instructions: instructions }),
    ...(Object.keys(servers).length === 0 ? {} : { mcp_servers: servers, ...WAIT_FOR_SERVERS }),
    ...config,
  }
  const isToBeSaid = request.hasNewInstructions || (isLong && session.kind === 'new')
  return {
    args: [
      'exec',
      ...pictures.flatMap(({ name }) => flag('--image', join(request.dir, name))),
      '--json',
      '--skip-git-repo-check',
      ...(userConfig ? [] : ['--ignore-user-config', '--ignore-rules']),
      ...flag('--model', request.model),
      ...flag('--output-schema', schema === undefined ? undefined : join(request.dir, schema.name)),
      // Otherwise it waits forever for a lost network.
      ...['unbounded_connection_retries', ...rules.disabled].flatMap((feature) => flag('--disable', feature)),
      ...(userConfig ? [] : provider).flatMap((setting) => flag('-c', setting)),
      ...Object.entries(settings).flatMap(([key, value]) => flag('-c', `${key}=${toToml(value)}`)),
      ...args,
      ...(session.kind === 'new' ? [] : ['resume', session.nativeId]),
      '-',
    ],
    env: Object.fromEntries(secrets),
    stdin: instructions !== undefined && isToBeSaid ? restated(instructions, text) : text,
    files: schema === undefined ? pictures : [...pictures, schema],
    warnings: [
      ...rules.warnings,
      ...(request.maxSteps === undefined
        ? []
        : [{ message: `${title} cannot be limited to a number of steps.`, code: 'max-steps' }]),
    ],
  }
}

/** A session keeps the instructions it was begun with, so new ones go before the prompt. */
function restated(instructions: string, text: string): string {
  return `<instructions>\nFrom now on these instructions hold instead of earlier ones:\n${instructions}\n</instructions>\n\n${text}`
}

/** Arguments are visible to every user of the machine, so values that may be secret go through the environment. */
function mcpServers(rules: CodexRules, secrets: Map<string, string>): Record<string, TomlValue> {
  const servers: Record<string, TomlValue> = {}
  for (const [name, server] of startedServers(rules)) {
    const hidden = rules.disabledTools.get(name) ?? []
    servers[name] = {
      ...connection(server, secrets, `INSPAN_MCP_${Object.keys(servers).length}`),
      ...(server.timeout === undefined ? {} : { startup_timeout_sec: server.timeout / 1_000 }),
      ...(rules.mayCallMcp ? { default_tools_approval_mode: 'approve' } : {}),
      ...(hidden.length === 0 ? {} : { disabled_tools: hidden }),
    }
  }
  return servers
}

/** The MCP servers that Codex starts. It refuses settings of any other. */
export function startedServers({ mcp }: Pick<CodexRules, 'mcp'>): [name: string, server: MCPServerConfig][] {
  return Object.entries(mcp).filter(([, { enabled }]) => enabled !== false)
}

/** Codex allows our own tools without asking, and waits as long as it can. */
function ownTools({ toolServer }: LaunchRequest, secrets: Map<string, string>): Record<string, TomlValue> {
  return Object.fromEntries(
    Object.entries(ownServer(toolServer)).map(([name, server]) => [
      name,
      {
        ...connection(server, secrets, 'INSPAN_TOOLS'),
        default_tools_approval_mode: 'approve',
        tool_timeout_sec: LONGEST_SECONDS,
      },
    ]),
  )
}

function connection(server: MCPServerConfig, secrets: Map<string, string>, prefix: string): Record<string, TomlValue> {
  if (server.type === 'remote') {
    const headers = Object.entries(server.headers ?? {}).map(([header, value], index) => {
      const variable = `${prefix}_${index}`
      secrets.set(variable, value)
      return [header, variable] as const
    })
    return {
      url: String(server.url),
      ...(headers.length === 0 ? {} : { env_http_headers: Object.fromEntries(headers) }),
    }
  }
  const passed: string[] = []
  const said: Record<string, string> = {}
  for (const [variable, value] of Object.entries(server.env ?? {})) {
    const other = secrets.get(variable)
    if (isOwn(variable) || (other !== undefined && other !== value)) {
      said[variable] = value
      continue
    }
    secrets.set(variable, value)
    passed.push(variable)
  }
  return {
    command: server.command,
    args: server.args ?? [],
    ...(passed.length === 0 ? {} : { env_vars: passed }),
    ...(Object.keys(said).length === 0 ? {} : { env: said }),
  }
}

/** Variables that would affect Codex itself and not only the server. */
function isOwn(variable: string): boolean {
  return /^(?:PATH|HOME|TMPDIR|LANG|LC_\w+|NODE_\w+|CODEX_\w+|OPENAI_\w+|RUST_\w+|\w+_PROXY|\w+_proxy)$/.test(variable)
}
