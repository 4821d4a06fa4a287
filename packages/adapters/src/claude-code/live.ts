import { claudeSessions } from './sessions.ts'
import type { NativeRef } from '@inspan/protocol'
import type { AgentDriver, Capabilities } from '@inspan/protocol/driver'
import { liveDriver, type LiveOptions } from '../live/live-driver.ts'
import { ClaudePeer } from './control.ts'
import { CLAUDE_CAPABILITIES, claudeAnchor } from './driver.ts'
import type { ClaudeLaunchOptions } from './launch.ts'
import { claudeCodeLiveDialect } from './live-dialect.ts'
import { claudeLimits } from './limits.ts'
import { launchClaudeLive } from './live-launch.ts'
import { claudeCodeProfile } from './profile.ts'
import { refuseLevel } from '../live/transport.ts'

/** We judge every call before it runs, also those of subagents. */
const CAPABILITIES: Capabilities = {
  ...CLAUDE_CAPABILITIES,
  governs: 'all',
  steer: 'inject',
}

export interface ClaudeLiveOptions extends LiveOptions, ClaudeLaunchOptions {}

/** Makes an agent of Claude Code in live mode. */
export function claudeCodeLive(options: ClaudeLiveOptions = {}): AgentDriver {
  refuseLevel(claudeCodeProfile.title, options.permissions)
  return liveDriver(
    {
      profile: claudeCodeProfile,
      dialect: claudeCodeLiveDialect,
      capabilities: CAPABILITIES,
      sessionsOf: claudeSessions,
      launch: (request) => launchClaudeLive(request, options),
      anchorOf: claudeAnchor,
      limits: claudeLimits,
      placeOf: ({ messageId }: NativeRef) => messageId,
      connect: (link) => new ClaudePeer(link),
    },
    options,
  )
}
