import { codexSessions } from '../sessions.ts'
import type { NativeRef } from '@inspan/protocol'
import type { AgentDriver, Capabilities } from '@inspan/protocol/driver'
import type { CodexLaunchOptions } from '../launch.ts'
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
  governs: 'asks-only',
  continuity: 'native',
  steer: 'inject',
  resume: 'anchor',
  fork: 'anchor',
  handover: 'items',
  hostTools: 'mcp',
  interrupt: 'clean',
  usage: 'turn',
  redaction: 'record',
  images: true,
  mcp: true,
  subagents: true,
  systemPrompt: 'append',
  models: null,
  effort: ['minimal', 'low', 'medium', 'high', 'xhigh'],
  output: true,
  limits: true,
  sessions: true,
}

export interface CodexLiveOptions extends LiveOptions, Omit<CodexLaunchOptions, 'userConfig'> {}

/** Makes an agent of Codex in live mode. */
export function codexLive(options: CodexLiveOptions = {}): AgentDriver {
  // The level would set the sandbox, but Codex asks to leave it, and a thread without rules allows that.
  refuseLevel(codexProfile.title, options.permissions)
  const driver = liveDriver(
    {
      profile: codexProfile,
      dialect: codexAppServerDialect,
      capabilities: CAPABILITIES,
      launch: (request) => launchAppServer(request, options),
      anchorOf: turnOf,
      limitsOf: codexLimits,
      placeOf: ({ turnId }: NativeRef) => turnId,
      connect: (link) => new AppServerPeer(link),
    },
    options,
  )
  return { ...driver, sessions: codexSessions({ ...process.env, ...options.env }) }
}

/** Returns the turn to resume at: a native thread can only be resumed at the end of a turn. */
function turnOf({ native, parentToolCallId }: MappedEvent): string | undefined {
  return parentToolCallId === undefined ? native?.turnId : undefined
}
