import { join } from 'node:path'
import type { JsonObject } from '@inspan/protocol'
import type { MCPConfiguration } from '@inspan/protocol/chat'
import { flag } from '../launch/args.ts'
import type { LaunchPlan, LaunchRequest } from '../launch/launch-plan.ts'
import { MAX_ARGUMENT_BYTES, tooLong } from '../launch/plan-limits.ts'
import type { PrivateFile } from '../launch/private-dir.ts'
import { promptText } from '../launch/prompt.ts'
import { clineProfile } from './profile.ts'
import { clineRules } from './rules.ts'

export interface ClineLaunchOptions {
  /** The model's provider, as `cline auth` names it. Default: the one used last. */
  readonly provider?: string
  /** Further command line arguments. */
  readonly args?: readonly string[]
}

/**
 * Returns how to start `cline --json` for one turn. The prompt can only be an argument. Settings and MCP servers come
 * from private files in place of the user's own; the login is used in any case.
 */
export function launchCline(request: LaunchRequest, options: ClineLaunchOptions = {}): LaunchPlan {
  const { title } = clineProfile
  const { dir } = request
  const { disabled, mcp, warnings } = clineRules(request)
  const text = promptText(request.input, title)
  const bytes = Buffer.byteLength(clinePrompt(text))
  const isLong = bytes > MAX_ARGUMENT_BYTES
  if (isLong && disabled.includes('read_files')) throw tooLong(title, 'a prompt', bytes)
  const files: PrivateFile[] = [
    {
      name: 'settings.json',
      content: JSON.stringify({ telemetryOptOut: true, autoUpdateEnabled: false, disabledTools: disabled }),
    },
    { name: 'mcp.json', content: JSON.stringify({ mcpServers: mcpServers(mcp) }) },
    ...(isLong ? [{ name: 'task.md', content: text }] : []),
  ]
  return {
    args: [
      '--json',
      ...flag('--auto-approve', 'true'),
      ...flag('--provider', options.provider),
      ...flag('--model', request.model),
      ...flag('--system', request.instructions),
      ...(options.args ?? []),
      '--',
      clinePrompt(isLong ? `Your task is in the file ${join(dir, 'task.md')}. Read all of it, then do it.` : text),
    ],
    env: {
      CLINE_GLOBAL_SETTINGS_PATH: join(dir, 'settings.json'),
      CLINE_MCP_SETTINGS_PATH: join(dir, 'mcp.json'),
      CLINE_NO_AUTO_UPDATE: '1',
      // Otherwise every run leaves a daemon behind.
      CLINE_SESSION_BACKEND_MODE: 'local',
    },
    files,
    warnings: [
      ...warnings,
      ...(request.maxSteps === undefined
        ? []
        : [{ message: `${title} cannot be limited to a number of steps.`, code: 'max-steps' }]),
    ],
  }
}

/**
 * How long a server may take to start and to answer: Cline's own limit for answers. Without a limit Cline waits three
 * seconds for a server to start and continues without its tools.
 */
const SERVER_SECONDS = 60

/** Adds a space: a prompt without white space is taken for a command. */
function clinePrompt(text: string): string {
  return `${text} `
}

function mcpServers(servers: MCPConfiguration): JsonObject {
  return Object.fromEntries(
    Object.entries(servers).map(([name, server]) => [
      name,
      {
        ...(server.type === 'stdio'
          ? { command: server.command, args: server.args ?? [], env: server.env ?? {} }
          : { type: 'streamableHttp', url: String(server.url), headers: server.headers ?? {} }),
        timeout: Math.max(SERVER_SECONDS, Math.ceil((server.timeout ?? 0) / 1_000)),
      },
    ]),
  )
}
