import { codexSessions } from '../sessions.ts'
import type { NativeRef } from '@inspan/protocol'
import type { AgentDriver, Capabilities } from '@inspan/protocol/driver'
import type { CodexLaunchOptions } from '../launch.ts'
import { CODEX_CAPABILITIES } from '../driver.ts'
import { codexProfile } from '../profile.ts'
import type { MappedEvent } from '../../kit/activity.ts'
import { liveDriver, type LiveOptions } from '../../live/live-driver.ts'
import { codexLimits } from './limits.ts'
import { launchAppServer } from './launch.ts'
import { codexAppServerDialect } from './mapper.ts'
import { AppServerPeer } from './peer.ts'
import { refuseLevel } from '../../live/transport.ts'

/**
 * Codex asks about commands, file changes and MCP tools. It does not ask about web searches, about starting subagents,
 * or about what the user has allowed in rules of Codex.
 */
const CAPABILITIES: Capabilities = {
  ...CODEX_CAPABILITIES,
  governs: 'asks-only',
  steer: 'inject',
  resume: 'anchor',
  fork: 'anchor',
  handover: 'items',
  interrupt: 'clean',
  usage: 'turn',
  limits: true,
}

export interface CodexLiveOptions extends LiveOptions, Omit<CodexLaunchOptions, 'userConfig'> {}

/** Makes an agent of Codex in live mode. */
export function codexLive(options: CodexLiveOptions = {}): AgentDriver {
  // The level would set the sandbox, but Codex asks to leave it, and a thread without rules allows that.
  refuseLevel(codexProfile.title, options.permissions)
  return liveDriver(
    {
      profile: codexProfile,
      dialect: codexAppServerDialect,
      capabilities: CAPABILITIES,
      sessionsOf: codexSessions,
      launch: (request) => launchAppServer(request, options),
      anchorOf: turnOf,
      limits: codexLimits,
      placeOf: ({ turnId }: NativeRef) => turnId,
      connect: (link) => new AppServerPeer(link),
    },
    options,
  )
}

/** Returns the turn to resume at: a native thread can only be resumed at the end of a turn. */
function turnOf({ native, parentToolCallId }: MappedEvent): string | undefined {
  return parentToolCallId === undefined ? native?.turnId : undefined
}
