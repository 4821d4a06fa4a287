import { claudeSessions } from './sessions.ts'
import type { NativeRef } from '@inspan/protocol'
import type { AgentDriver, Capabilities } from '@inspan/protocol/driver'
import { liveDriver, type LiveOptions } from '../live/live-driver.ts'
import { ClaudePeer } from './control.ts'
import { claudeAnchor } from './driver.ts'
import type { ClaudeLaunchOptions } from './launch.ts'
import { claudeCodeLiveDialect } from './live-dialect.ts'
import { claudeLimits } from './limits.ts'
import { launchClaudeLive } from './live-launch.ts'
import { claudeCodeProfile } from './profile.ts'
import { refuseLevel } from '../live/transport.ts'

/** We judge every call before it runs, also those of subagents. */
const CAPABILITIES: Capabilities = {
  governs: 'all',
  continuity: 'native',
  steer: 'inject',
  resume: 'anchor',
  fork: 'anchor',
  handover: 'text',
  hostTools: 'mcp',
  interrupt: 'clean',
  usage: 'turn',
  redaction: 'record',
  images: true,
  mcp: true,
  subagents: true,
  systemPrompt: 'append',
  models: null,
  effort: ['low', 'medium', 'high', 'xhigh', 'max'],
  output: true,
  limits: true,
  sessions: true,
}

export interface ClaudeLiveOptions extends LiveOptions, ClaudeLaunchOptions {}

/** Makes an agent of Claude Code in live mode. */
export function claudeCodeLive(options: ClaudeLiveOptions = {}): AgentDriver {
  refuseLevel(claudeCodeProfile.title, options.permissions)
  const driver = liveDriver(
    {
      profile: claudeCodeProfile,
      dialect: claudeCodeLiveDialect,
      capabilities: CAPABILITIES,
      launch: (request) => launchClaudeLive(request, options),
      anchorOf: claudeAnchor,
      limitsOf: claudeLimits,
      placeOf: ({ messageId }: NativeRef) => messageId,
      connect: (link) => new ClaudePeer(link),
    },
    options,
  )
  return { ...driver, sessions: claudeSessions({ ...process.env, ...options.env }) }
}
