import { join } from 'node:path'
import type { JsonObject } from '@inspan/protocol'
import type { MCPConfiguration } from '@inspan/protocol/chat'
import { TOOL_SERVER_NAME } from '@inspan/protocol/driver'
import { flag } from '../launch/args.ts'
import type { LaunchPlan, LaunchRequest } from '../launch/launch-plan.ts'
import type { SessionChoice } from '../launch/native-session.ts'
import type { PrivateFile } from '../launch/private-dir.ts'
import { promptOf, type Prompt } from '../launch/prompt.ts'
import { ownServer } from '../launch/own-server.ts'
import { claudeCodeProfile } from './profile.ts'
import { claudeRules } from './rules.ts'

/** The most that a timer takes. */
const LONGEST_MS = String(2 ** 31 - 1)

export interface ClaudeLaunchOptions {
  /** The settings that the CLI reads. Default: none, as they may allow what our rules do not. It always reads `CLAUDE.md`. */
  readonly settings?: readonly ('user' | 'project' | 'local')[]
  /** Further command line arguments. */
  readonly args?: readonly string[]
}

/**
 * Returns how to start `claude --print` for a turn. The prompt goes to standard input: it may be long, and is hidden
 * there.
 */
export function launchClaude(request: LaunchRequest, options: ClaudeLaunchOptions = {}): LaunchPlan {
  const { title } = claudeCodeProfile
  const rules = claudeRules(request, title)
  const files: PrivateFile[] = []
  const file = (name: string, content: string): string => {
    files.push({ name, content })
    return join(request.dir, name)
  }
  const { settings = [], args = [] } = options
  const servers = { ...rules.mcp, ...ownServer(request.toolServer) }
  return {
    args: [
      '--print',
      '--verbose',
      ...flag('--input-format', 'stream-json'),
      ...flag('--output-format', 'stream-json'),
      '--include-partial-messages',
      '--forward-subagent-text',
      ...sessionArgs(request.session),
      ...flag('--model', request.model),
      ...flag('--effort', request.effort),
      ...flag('--json-schema', request.output === undefined ? undefined : JSON.stringify(request.output.schema)),
      ...flag('--max-turns', request.maxSteps?.toString()),
      ...flag('--permission-mode', rules.mode),
      ...flag('--permission-prompts', 'none'),
      ...flag('--allowedTools', [...rules.allowed, ...ownTools(request)].join(',')),
      ...flag('--disallowedTools', rules.denied.length === 0 ? undefined : rules.denied.join(',')),
      ...flag('--tools', rules.only?.join(',')),
      ...flag('--setting-sources', settings.join(',')),
      ...flag('--add-dir', request.cwd),
      // Without the second flag a resumed session keeps its first instructions.
      ...(request.instructions === undefined
        ? []
        : [
            ...flag('--append-system-prompt-file', file('instructions.md', request.instructions)),
            ...flag('--system-prompt-snapshot', 'off'),
          ]),
      '--strict-mcp-config',
      ...flag('--mcp-config', Object.keys(servers).length === 0 ? undefined : file('mcp.json', mcpFile(servers))),
      ...args,
    ],
    env: {
      // It refuses to run inside itself, and we may have been started by it.
      CLAUDECODE: undefined,
      CLAUDE_CODE_ADDITIONAL_DIRECTORIES_CLAUDE_MD: '1',
      DISABLE_AUTOUPDATER: '1',
      ...patience(request),
    },
    stdin: userMessage(promptOf(request.input, title)),
    files,
    warnings: rules.warnings,
  }
}

/** Returns the rule that allows our own tools. */
export function ownTools({ toolServer }: Pick<LaunchRequest, 'toolServer'>): readonly string[] {
  return toolServer === undefined ? [] : [`mcp__${TOOL_SERVER_NAME}`]
}

/** Our tools may wait for people. */
export function patience({ toolServer }: Pick<LaunchRequest, 'toolServer'>): Readonly<Record<string, string>> {
  return toolServer === undefined ? {} : { MCP_TOOL_TIMEOUT: LONGEST_MS }
}

function sessionArgs(session: SessionChoice): readonly string[] {
  if (session.kind === 'new') return ['--session-id', session.id]
  const at = ['--resume', session.nativeId, ...flag('--resume-session-at', session.anchor)]
  return session.kind === 'resume' ? at : [...at, '--fork-session', '--session-id', session.id]
}

function userMessage({ text, images }: Prompt): string {
  const content: JsonObject[] = images.map(({ mimeType, data }) => ({
    type: 'image',
    source: { type: 'base64', media_type: mimeType, data },
  }))
  if (text !== '') content.push({ type: 'text', text })
  return `${JSON.stringify({ type: 'user', message: { role: 'user', content }, parent_tool_use_id: null, session_id: '' })}\n`
}

function mcpFile(servers: MCPConfiguration): string {
  return JSON.stringify({ mcpServers: nativeServers(servers) })
}

/** Returns the configuration of MCP servers as Claude Code reads it. */
export function nativeServers(servers: MCPConfiguration): JsonObject {
  return Object.fromEntries(
    Object.entries(servers)
      .filter(([, server]) => server.enabled !== false)
      .map(([name, server]) => [
        name,
        server.type === 'stdio'
          ? { type: 'stdio', command: server.command, args: server.args ?? [], env: server.env ?? {} }
          : { type: 'http', url: String(server.url), headers: server.headers ?? {} },
      ]),
  )
}
