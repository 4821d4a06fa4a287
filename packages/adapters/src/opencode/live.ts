import { cliFinder } from '../launch/cli-finder.ts'
import { opencodeSessions } from './sessions.ts'
import type { AgentDriver, Capabilities } from '@inspan/protocol/driver'
import { ACP_CAPABILITIES, acpHarness, type AcpAgent } from '../acp/agent.ts'
import { followedDriver } from '../live/followed-driver.ts'
import type { LiveOptions } from '../live/live-driver.ts'
import { opencodeAcpDialect, opencodeHabits } from './acp/mapper.ts'
import type { OpencodeLaunchOptions } from './launch.ts'
import { launchOpencodeLive, OPENCODE_LIVE_AGENT } from './live-launch.ts'
import { opencodeNativeTools } from './native-tools.ts'
import { opencodeProfile } from './profile.ts'
import { refuseLevel } from '../live/transport.ts'

/**
 * OpenCode asks about every call. Subagents, which would not ask, are not offered. If one of several calls is refused,
 * OpenCode refuses all of them and ends the turn.
 */
export const OPENCODE_LIVE_CAPABILITIES: Capabilities = {
  ...ACP_CAPABILITIES,
  sessions: true,
  governs: 'all',
  resume: 'head',
  images: true,
  // It reports the tokens of the last model call only. The cost of a turn is known.
  usage: 'none',
  systemPrompt: 'append',
}

export interface OpencodeLiveOptions extends LiveOptions, OpencodeLaunchOptions {}

/** Makes an agent of OpenCode in live mode. */
export function opencodeLive(options: OpencodeLiveOptions = {}): AgentDriver {
  refuseLevel(opencodeProfile.title, options.permissions)
  const flavour = { profile: opencodeProfile, prefix: 'OPENCODE', tools: opencodeNativeTools, env: {} }
  const agent: AcpAgent = {
    profile: opencodeProfile,
    dialect: opencodeAcpDialect,
    habits: opencodeHabits,
    capabilities: OPENCODE_LIVE_CAPABILITIES,
    mode: OPENCODE_LIVE_AGENT,
    tellsWrites: true,
    launch: (request) => launchOpencodeLive(request, flavour, options),
  }
  const env = { ...process.env, ...options.env }
  const { find } = cliFinder(flavour.profile, env, options.bin)
  const driver = followedDriver((facts) => acpHarness(agent, facts), options)
  return { ...driver, sessions: opencodeSessions(flavour, env, find) }
}
