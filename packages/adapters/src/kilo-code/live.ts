import { cliFinder } from '../launch/cli-finder.ts'
import { opencodeSessions } from '../opencode/sessions.ts'
import type { AgentDriver } from '@inspan/protocol/driver'
import { acpHarness, type AcpAgent } from '../acp/agent.ts'
import { kiloCodeAcpDialect, kiloCodeHabits } from './acp/mapper.ts'
import type { NativeTools } from '../launch/offered-tools.ts'
import { followedDriver } from '../live/followed-driver.ts'
import { launchOpencodeLive, OPENCODE_LIVE_AGENT, type LiveFlavour } from '../opencode/live-launch.ts'
import { OPENCODE_LIVE_CAPABILITIES, type OpencodeLiveOptions } from '../opencode/live.ts'
import { opencodeNativeTools } from '../opencode/native-tools.ts'
import { kiloCodeProfile } from './profile.ts'
import { refuseLevel } from '../live/transport.ts'

const SHELL: readonly string[] = [...opencodeNativeTools.kinds.shell, 'background_process']
const TOOLS: NativeTools = {
  ...opencodeNativeTools,
  categories: { ...opencodeNativeTools.categories, execute: SHELL },
  kinds: { ...opencodeNativeTools.kinds, shell: SHELL },
}
/** Without a daemon, which would outlive the run. */
const FLAVOUR: LiveFlavour = {
  profile: kiloCodeProfile,
  prefix: 'KILO',
  tools: TOOLS,
  env: { KILO_NO_DAEMON: '1' },
}

/** Makes an agent of Kilo Code in live mode. Kilo Code is built on OpenCode. */
export function kiloCodeLive(options: OpencodeLiveOptions = {}): AgentDriver {
  refuseLevel(kiloCodeProfile.title, options.permissions)
  const agent: AcpAgent = {
    profile: kiloCodeProfile,
    dialect: kiloCodeAcpDialect,
    habits: kiloCodeHabits,
    capabilities: OPENCODE_LIVE_CAPABILITIES,
    mode: OPENCODE_LIVE_AGENT,
    tellsWrites: true,
    launch: (request) => launchOpencodeLive(request, FLAVOUR, options),
  }
  const env = { ...process.env, ...options.env }
  const { find } = cliFinder(FLAVOUR.profile, env, options.bin)
  const driver = followedDriver((facts) => acpHarness(agent, facts), options)
  return { ...driver, sessions: opencodeSessions(FLAVOUR, env, find) }
}
