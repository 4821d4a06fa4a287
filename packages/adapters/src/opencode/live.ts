import { opencodeSessions } from './sessions.ts'
import type { AgentDriver, Capabilities } from '@inspan/protocol/driver'
import { ACP_CAPABILITIES, acpDriver, type AcpAgent } from '../acp/agent.ts'
import type { LiveOptions } from '../live/live-driver.ts'
import { opencodeAcpDialect, opencodeHabits } from './acp/mapper.ts'
import { OPENCODE } from './driver.ts'
import type { OpencodeLaunchOptions } from './launch.ts'
import { launchOpencodeLive, OPENCODE_LIVE_AGENT, type LiveFlavour } from './live-launch.ts'
import { refuseLevel } from '../live/transport.ts'

/**
 * OpenCode asks about every call. Subagents, which would not ask, are not offered. If one of several calls is refused,
 * OpenCode refuses all of them and ends the turn.
 */
const CAPABILITIES: Capabilities = {
  ...ACP_CAPABILITIES,
  sessions: true,
  governs: 'all',
  refusal: 'may-end-turn',
  resume: 'head',
  images: true,
  // It reports the tokens of the last model call only. The cost of a turn is known.
  usage: 'none',
  systemPrompt: 'append',
  maxSteps: true,
}

export interface OpencodeLiveOptions extends LiveOptions, OpencodeLaunchOptions {}

/** Makes an agent of OpenCode in live mode. */
export function opencodeLive(options: OpencodeLiveOptions = {}): AgentDriver {
  return opencodeLiveDriver({ ...OPENCODE, dialect: opencodeAcpDialect, habits: opencodeHabits }, options)
}

/** Makes an agent of OpenCode or of a program built on it, in live mode. */
export function opencodeLiveDriver(
  flavour: LiveFlavour & Pick<AcpAgent, 'dialect' | 'habits'>,
  options: OpencodeLiveOptions,
): AgentDriver {
  const { profile, dialect, habits } = flavour
  refuseLevel(profile.title, options.permissions)
  const agent: AcpAgent = {
    profile,
    dialect,
    habits,
    capabilities: CAPABILITIES,
    sessionsOf: (env, find) => opencodeSessions(flavour, env, find),
    mode: OPENCODE_LIVE_AGENT,
    tellsWrites: true,
    launch: (request) => launchOpencodeLive(request, flavour, options),
  }
  return acpDriver(agent, options)
}
