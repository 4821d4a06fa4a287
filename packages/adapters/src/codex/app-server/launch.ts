import type { PermissionRules } from '@evener/protocol'
import { launchCodex, type CodexLaunchOptions } from '../launch.ts'
import { codexProfile } from '../profile.ts'
import { codexRules, type CodexRules } from '../rules.ts'
import type { LaunchRequest } from '../../launch/launch-plan.ts'
import { kindOfTool, mcpToolName } from '../../launch/tool-kinds.ts'
import { onlyFlags } from '../../live/args.ts'
import type { LivePlan } from '../../live/live-harness.ts'
import { settledRules } from '../../live/settled-rules.ts'

const SETTINGS: ReadonlySet<string> = new Set(['-c', '--enable', '--disable'])
/** What is said when a thread is opened, and not to the whole process. */
const OF_THREADS = /^(?:approval_policy|developer_instructions)=/
const PLAIN_NAME = /^[\w-]+$/
/** The settings do not depend on what is said. */
const NOTHING_SAID: LaunchRequest['input'] = [{ id: '0', type: 'text', text: '-' }]

/** `codex app-server` with the settings of print mode. What it would ask is asked. */
export function launchAppServer(request: LaunchRequest, options: CodexLaunchOptions = {}): LivePlan {
  const plan = launchCodex({ ...floor(request), input: NOTHING_SAID }, { ...options, userConfig: true })
  const settings = onlyFlags(plan.args, SETTINGS)
  const kept = settings.filter((arg, index) => !OF_THREADS.test(SETTINGS.has(arg) ? (settings[index + 1] ?? '') : arg))
  return {
    args: ['app-server', ...kept, ...Object.keys(request.mcp).flatMap(askBefore)],
    ...(plan.env === undefined ? {} : { env: plan.env }),
    ...(plan.warnings === undefined ? {} : { warnings: plan.warnings }),
  }
}

/** How far its sandbox goes. Being asked comes on top of it. */
export function sandboxOf(request: LaunchRequest): CodexRules['sandbox'] {
  return codexRules(floor(request), codexProfile.title, true).sandbox
}

function askBefore(server: string): readonly string[] {
  return PLAIN_NAME.test(server) ? ['-c', `mcp_servers.${server}.default_tools_approval_mode="prompt"`] : []
}

/** Its own configuration is read in any case, so rules that it could break are refused. */
function floor(request: LaunchRequest): LaunchRequest {
  const rules = settledRules(request.rules)
  return { ...request, rules: { ...rules, patterns: rules.patterns.filter((rule) => !isAsked(rule)) } }
}

/** Calls of these tools come to us one by one, so patterns are judged here. Files are read through the shell. */
function isAsked({ tool }: PermissionRules['patterns'][number]): boolean {
  const kind = kindOfTool(tool)
  return kind === 'shell' || kind === 'write' || kind === 'edit' || mcpToolName(tool) !== undefined
}
