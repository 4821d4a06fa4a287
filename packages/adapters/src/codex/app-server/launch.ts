import type { PermissionRules } from '@inspan/protocol'
import { launchCodex, startedServers, type CodexLaunchOptions } from '../launch.ts'
import { codexProfile } from '../profile.ts'
import { codexRules, type CodexRules } from '../rules.ts'
import type { LaunchRequest } from '../../launch/launch-plan.ts'
import { kindOfTool, mcpToolName } from '../../launch/tool-kinds.ts'
import { onlyFlags } from '../../live/args.ts'
import type { LivePlan } from '../../live/live-cli-spec.ts'
import { settledRules } from '../../live/settled-rules.ts'

const SETTINGS: ReadonlySet<string> = new Set(['-c', '--enable', '--disable'])
/** Settings that are given when a thread is opened, not to the whole process. */
const OF_THREADS = /^(?:approval_policy|developer_instructions)=/
const PLAIN_NAME = /^[\w-]+$/
/** A placeholder: the settings do not depend on the input. */
const NOTHING_SAID: LaunchRequest['input'] = [{ id: '0', type: 'text', text: '-' }]

/** Returns how to start `codex app-server`, with the settings of print mode, except that it asks. */
export function launchAppServer(request: LaunchRequest, options: CodexLaunchOptions = {}): LivePlan {
  const plan = launchCodex({ ...withoutTurn(floor(request)), input: NOTHING_SAID }, { ...options, userConfig: true })
  const settings = onlyFlags(plan.args, SETTINGS)
  const kept = settings.filter((arg, index) => !OF_THREADS.test(SETTINGS.has(arg) ? (settings[index + 1] ?? '') : arg))
  return {
    args: ['app-server', ...kept, ...startedServers(rulesOf(request)).flatMap(([name]) => askBefore(name))],
    ...(plan.env === undefined ? {} : { env: plan.env }),
    ...(plan.warnings === undefined ? {} : { warnings: plan.warnings }),
  }
}

/** Effort and schema are given with each turn, so that one process takes turns with different ones. */
function withoutTurn({ effort: _effort, output: _output, ...request }: LaunchRequest): LaunchRequest {
  return request
}

/** Returns the sandbox. Codex asks in addition to it. */
export function sandboxOf(request: LaunchRequest): CodexRules['sandbox'] {
  return rulesOf(request).sandbox
}

function rulesOf(request: LaunchRequest): CodexRules {
  return codexRules(floor(request), codexProfile.title, true)
}

function askBefore(server: string): readonly string[] {
  return PLAIN_NAME.test(server) ? ['-c', `mcp_servers.${server}.default_tools_approval_mode="prompt"`] : []
}

/**
 * Leaves out rules that are judged call by call. The user's configuration is read in any case, so `codexRules` refuses
 * rules that it could break.
 */
function floor(request: LaunchRequest): LaunchRequest {
  const rules = settledRules(request.rules)
  return { ...request, rules: { ...rules, patterns: rules.patterns.filter((rule) => !isAsked(rule)) } }
}

/** Whether Codex asks about every call of this tool, so that we judge patterns. Files are read through the shell. */
function isAsked({ tool }: PermissionRules['patterns'][number]): boolean {
  const kind = kindOfTool(tool)
  return kind === 'shell' || kind === 'write' || kind === 'edit' || mcpToolName(tool) !== undefined
}
