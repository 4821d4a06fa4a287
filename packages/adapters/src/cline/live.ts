import type { Part, PermissionRules } from '@inspan/protocol'
import type { AgentDriver, Capabilities } from '@inspan/protocol/driver'
import { ACP_CAPABILITIES, acpDriver, type AcpAgent } from '../acp/agent.ts'
import { unsupportedWarnings } from '../acp/unsupported.ts'
import { clineAcpDialect, clineHabits } from './acp/mapper.ts'
import { flag } from '../launch/args.ts'
import type { LaunchRequest } from '../launch/launch-plan.ts'
import { noSubagents } from '../launch/offered-tools.ts'
import { promptText } from '../launch/prompt.ts'
import type { LiveOptions } from '../live/live-driver.ts'
import type { LivePlan } from '../live/live-cli-spec.ts'
import { settledRules } from '../live/settled-rules.ts'
import { launchCline, type ClineLaunchOptions } from './launch.ts'
import { clineProfile } from './profile.ts'
import { refuseLevel } from '../live/transport.ts'

/** Cline asks about every call. Its subagents do not ask, so they are not offered unless `allowUngoverned`. */
const CAPABILITIES: Capabilities = {
  ...ACP_CAPABILITIES,
  governs: 'all',
  resume: 'head',
  // It claims to take images, and drops them.
  images: false,
  usage: 'none',
}
/** A placeholder: the prompt is sent later. */
const NO_PROMPT: readonly Part[] = [{ id: '0', type: 'text', text: '-' }]
const SETTINGS: ReadonlySet<string> = new Set(['settings.json', 'mcp.json'])

export interface ClineLiveOptions extends LiveOptions, ClineLaunchOptions {}

/** Makes an agent of Cline in live mode. */
export function clineLive(options: ClineLiveOptions = {}): AgentDriver {
  refuseLevel(clineProfile.title, options.permissions)
  const agent: AcpAgent = {
    profile: clineProfile,
    dialect: clineAcpDialect,
    habits: clineHabits,
    capabilities: { ...CAPABILITIES, subagents: options.allowUngoverned === true },
    hasOwnMcp: true,
    launch: (request) => launchClineLive(request, options),
  }
  return acpDriver(agent, options)
}

/** Returns how to start `cline --acp`, with the settings of print mode, except that it asks about everything. */
export function launchClineLive(request: LaunchRequest, options: ClineLaunchOptions = {}): LivePlan {
  const { rules, allowUngoverned } = request
  promptText(request.input, clineProfile.title)
  const { env, files = [] } = launchCline(
    { ...request, input: NO_PROMPT, rules: floor(rules, allowUngoverned), permissions: 'full' },
    {},
  )
  const { provider, args = [] } = options
  return {
    args: ['--acp', ...flag('--auto-approve', 'false'), ...args],
    env: { ...env, ...(provider === undefined ? {} : { CLINE_PROVIDER: provider }) },
    files: files.filter(({ name }) => SETTINGS.has(name)),
    warnings: [
      ...unsupportedWarnings(request, clineProfile.title),
      ...(allowUngoverned ? [] : noSubagents(rules, clineProfile.title)),
    ],
  }
}

/**
 * Returns the rules that always hide tools. Patterns are judged call by call, and so is what a command writes. Tools
 * that edit are denied by name, because denying the whole category would hide the shell as well.
 */
function floor(rules: PermissionRules, allowUngoverned: boolean): PermissionRules {
  const { categories, tools } = settledRules(rules)
  const denied = Object.entries(categories).filter(([category, policy]) => policy === 'deny' && category !== 'edit')
  return {
    categories: Object.fromEntries(denied),
    tools: {
      ...tools,
      ...(categories.edit === 'deny' ? { write_file: 'deny', edit_file: 'deny' } : {}),
      ...(allowUngoverned ? {} : { subagent: 'deny' }),
    },
    patterns: [],
  }
}
