import { readFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import type { AgentDriver, Capabilities } from '@inspan/protocol/driver'
import { ACP_CAPABILITIES, acpDriver, type AcpAgent } from '../acp/agent.ts'
import { limitsOf } from '../acp/limits.ts'
import { unsupportedWarnings } from '../acp/unsupported.ts'
import { gooseAcpDialect, gooseHabits } from './acp/mapper.ts'
import type { Environment } from '../launch/find-cli.ts'
import type { LaunchRequest } from '../launch/launch-plan.ts'
import { noSubagents } from '../launch/offered-tools.ts'
import { refuseUnkept } from '../launch/permissions.ts'
import type { LiveOptions } from '../live/live-driver.ts'
import type { LivePlan } from '../live/live-cli-spec.ts'
import type { GooseLaunchOptions } from './launch.ts'
import { gooseProfile } from './profile.ts'
import { refuseLevel } from '../live/transport.ts'

const CAPABILITIES: Capabilities = {
  ...ACP_CAPABILITIES,
  governs: 'all',
  resume: 'head',
  images: true,
  // It reports only the usage of its last model call.
  usage: 'none',
}
/** The mode in which Goose asks about every call, except for tools that its user has always allowed. */
const MODE = 'approve'
const WHY = 'Some of its tools are always allowed in its own settings (permission.yaml), so it does not ask about them.'
/** The tool for subagents, which do not ask. */
const SUBAGENTS = 'delegate'

export interface GooseLiveOptions extends LiveOptions, GooseLaunchOptions {}

/** Makes an agent of Goose in live mode. */
export function gooseLive(options: GooseLiveOptions = {}): AgentDriver {
  refuseLevel(gooseProfile.title, options.permissions)
  const env: Environment = { ...process.env, ...options.env }
  const driver = async (): Promise<AgentDriver> => gooseDriver(options, await asksAboutAll(env))
  const { id } = gooseDriver(options, true)
  return {
    port: 1,
    id,
    describe: async () => (await driver()).describe(),
    open: async (binding, host) => (await driver()).open(binding, host),
  }
}

function gooseDriver(options: GooseLiveOptions, asksAll: boolean): AgentDriver {
  const agent: AcpAgent = {
    profile: gooseProfile,
    dialect: gooseAcpDialect,
    habits: gooseHabits,
    mode: MODE,
    capabilities: {
      ...CAPABILITIES,
      subagents: options.allowUngoverned === true,
      ...(asksAll ? {} : { governs: 'asks-only' }),
    },
    refusal: (toolName, { allowUngoverned }) =>
      toolName === SUBAGENTS && !allowUngoverned ? 'its subagents ask nobody before they act.' : undefined,
    launch: (request) => launchGooseLive(request, options, asksAll),
  }
  return acpDriver(agent, options)
}

/** Returns how to start `goose acp`. */
export function launchGooseLive(
  request: LaunchRequest,
  { provider, args = [] }: GooseLaunchOptions,
  asksAll: boolean,
): LivePlan {
  const { title } = gooseProfile
  return {
    args: ['acp', '--with-builtin', 'developer', ...args],
    env: {
      GOOSE_MODE: MODE,
      ...(provider === undefined ? {} : { GOOSE_PROVIDER: provider }),
      // Goose begins no session without a model. It can be given another one later.
      ...(request.model === undefined ? {} : { GOOSE_MODEL: request.model }),
    },
    warnings: [
      ...(asksAll ? [] : refuseUnkept(request, title, limitsOf(request.rules), WHY)),
      ...unsupportedWarnings(request, title),
      ...(request.allowUngoverned ? [] : noSubagents(request.rules, title)),
    ],
  }
}

async function asksAboutAll(env: Environment): Promise<boolean> {
  const { GOOSE_PATH_ROOT: root, XDG_CONFIG_HOME: xdg, HOME: home = homedir() } = env
  const config = xdg === undefined || xdg === '' ? join(home, '.config') : xdg
  const folder = root === undefined || root === '' ? join(config, 'goose') : join(root, 'config')
  return !allowsForGood(await readFile(join(folder, 'permission.yaml'), 'utf8').catch(() => ''))
}

/** Whether the list of always allowed tools has an entry. */
function allowsForGood(permissions: string): boolean {
  return /^\s*always_allow:\s*(?:\n\s*-|\[\s*[^\]\s])/m.test(permissions)
}
