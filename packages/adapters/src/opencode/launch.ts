import { join } from 'node:path'
import type { JsonObject, JsonValue } from '@inspan/protocol'
import type { MCPConfiguration, MCPServerConfig } from '@inspan/protocol/chat'
import { asArray, asObject, NO_FIELDS } from '../kit/fields.ts'
import { flag } from '../launch/args.ts'
import type { LaunchPlan, LaunchRequest } from '../launch/launch-plan.ts'
import { offeredTools } from '../launch/offered-tools.ts'
import type { PrivateFile } from '../launch/private-dir.ts'
import { imageEnding, promptOf } from '../launch/prompt.ts'
import type { Flavour } from './flavour.ts'
import { agentPermissions } from './permission.ts'

export interface OpencodeLaunchOptions {
  /** OpenCode's configuration (providers, models), as in its configuration file. Our own settings override it. */
  readonly config?: JsonObject
  /** Load the plugins of the user and the project. Default: false, because rules do not bind them. */
  readonly plugins?: boolean
  /** Further command line arguments. */
  readonly args?: readonly string[]
}

/** The name of the OpenCode agent: one of our own, so that no settings but ours apply to it. */
const AGENT = 'inspan'
const WHY = 'It runs its tools itself and shows them afterwards.'

/**
 * Returns how to start `opencode run` for one turn. The prompt goes through standard input: as an argument it would be
 * quoted, and visible to every user.
 */
export function launchOpencode(
  request: LaunchRequest,
  { profile, prefix, tools: known, env }: Flavour,
  options: OpencodeLaunchOptions = {},
): LaunchPlan {
  const { title } = profile
  const { session, instructions, maxSteps, dir } = request
  const tools = offeredTools(request, known, { title, why: WHY, hidesMcpTools: true })
  const { text, images } = promptOf(request.input, title)
  const pictures = images.map(({ mimeType, data }, index): PrivateFile => ({
    name: `image-${index + 1}.${imageEnding(mimeType)}`,
    content: Buffer.from(data, 'base64'),
  }))
  const files = [...pictures]
  if (instructions !== undefined) files.push({ name: 'instructions.md', content: instructions })
  const { main, subagents } = agentPermissions(tools, known, pictures.length === 0 ? [] : [join(dir, '*')])
  const config = {
    ...options.config,
    autoupdate: false,
    share: 'disabled',
    ...(instructions === undefined
      ? {}
      : { instructions: [...(asArray(options.config?.['instructions']) ?? []), join(dir, 'instructions.md')] }),
    agent: {
      ...asObject(options.config?.['agent']),
      ...Object.fromEntries(
        Object.entries(subagents).map(([name, permission]) => [name, { ...agentOf(options.config, name), permission }]),
      ),
      [AGENT]: { mode: 'primary', permission: main, ...(maxSteps === undefined ? {} : { steps: maxSteps }) },
    },
    mcp: mcpServers(tools.mcp),
  } satisfies JsonObject
  return {
    args: [
      'run',
      ...flag('--format', 'json'),
      '--thinking',
      ...flag('--agent', AGENT),
      ...(options.plugins === true ? [] : ['--pure']),
      ...(session.kind === 'new' ? [] : flag('--session', session.nativeId)),
      ...flag('--model', request.model),
      ...pictures.flatMap(({ name }) => flag('--file', join(dir, name))),
      ...(options.args ?? []),
      // Without a value the title is the prompt. Without the flag a model is asked for one.
      ...(session.kind === 'new' ? ['--title'] : []),
    ],
    env: {
      ...env,
      // OpenCode trusts this more than the directory it was started in.
      PWD: request.cwd,
      [`${prefix}_DISABLE_AUTOUPDATE`]: '1',
      [`${prefix}_PERMISSION`]: undefined,
      [`${prefix}_CONFIG_CONTENT`]: JSON.stringify(config),
    },
    stdin: text === '' ? 'See the attached images.' : text,
    files,
    warnings: tools.warnings,
  }
}

function agentOf(config: JsonObject | undefined, name: string): JsonObject {
  return asObject(asObject(config?.['agent'])?.[name]) ?? NO_FIELDS
}

function mcpServers(servers: MCPConfiguration): JsonObject {
  return Object.fromEntries(Object.entries(servers).map(([name, server]) => [name, mcpServer(server)]))
}

function mcpServer(server: MCPServerConfig): JsonObject {
  const timeout: Record<string, JsonValue> = server.timeout === undefined ? {} : { timeout: server.timeout }
  if (server.type === 'remote') {
    return { type: 'remote', url: String(server.url), headers: server.headers ?? {}, enabled: true, ...timeout }
  }
  const command = [server.command, ...(server.args ?? [])]
  return { type: 'local', command, environment: server.env ?? {}, enabled: true, ...timeout }
}
