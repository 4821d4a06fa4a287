import type { AgentDriver, Capabilities, Part, PermissionRules } from '@evener/protocol'
import { ACP_CAPABILITIES, acpHarness, type AcpAgent } from '../acp/agent.ts'
import { unheardWarnings } from '../acp/unheard.ts'
import { clineAcpDialect, clineHabits } from './acp/mapper.ts'
import { flag } from '../launch/args.ts'
import type { LaunchRequest } from '../launch/launch-plan.ts'
import { noSubagents } from '../launch/offered-tools.ts'
import { promptText } from '../launch/prompt.ts'
import { followedDriver } from '../live/followed-driver.ts'
import type { LiveOptions } from '../live/live-driver.ts'
import type { LivePlan } from '../live/live-harness.ts'
import { settledRules } from '../live/settled-rules.ts'
import { launchCline, type ClineLaunchOptions } from './launch.ts'
import { clineProfile } from './profile.ts'

/** Every call is asked about; subagents, which ask nobody, are not there unless that was allowed. */
const CAPABILITIES: Capabilities = {
  ...ACP_CAPABILITIES,
  governs: 'all',
  resume: 'head',
  // It says that it takes them, and drops them.
  images: false,
  usage: 'none',
}
/** The prompt is said later. */
const NO_PROMPT: readonly Part[] = [{ id: '0', type: 'text', text: '-' }]
const SETTINGS: ReadonlySet<string> = new Set(['settings.json', 'mcp.json'])

export interface ClineLiveOptions extends LiveOptions, ClineLaunchOptions {}

/** Cline as an agent that stays and asks. */
export function clineLive(options: ClineLiveOptions = {}): AgentDriver {
  const agent: AcpAgent = {
    profile: clineProfile,
    dialect: clineAcpDialect,
    habits: clineHabits,
    capabilities: { ...CAPABILITIES, subagents: options.allowUngoverned === true },
    hasOwnMcp: true,
    launch: (request) => launchClineLive(request, options),
  }
  return followedDriver((facts) => acpHarness(agent, facts), options)
}

/** `cline --acp`, for many turns: with the settings of print mode, but everything is asked. */
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
      ...unheardWarnings(request, clineProfile.title),
      ...(allowUngoverned ? [] : noSubagents(rules, clineProfile.title)),
    ],
  }
}

/**
 * What is denied for good is not there. Patterns are judged call by call, and so is what a command writes: the tools that
 * edit are denied by name, because to deny the whole category would take the shell along.
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
