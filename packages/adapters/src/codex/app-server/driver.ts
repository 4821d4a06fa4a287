import type { AgentDriver, Capabilities, NativeRef } from '@evener/protocol'
import type { CodexLaunchOptions } from '../launch.ts'
import { codexProfile } from '../profile.ts'
import type { MappedEvent } from '../../kit/activity.ts'
import { liveDriver, type LiveOptions } from '../../live/live-driver.ts'
import { launchAppServer } from './launch.ts'
import { codexAppServerDialect } from './mapper.ts'
import { AppServerPeer } from './peer.ts'

/**
 * Commands, changes of files and MCP tools are asked about. Searches of the web and subagents as such are not, nor what
 * its user has allowed in rules of its own.
 */
const CAPABILITIES: Capabilities = {
  governs: 'asks-only',
  steer: 'inject',
  resume: 'anchor',
  fork: 'anchor',
  handover: 'items',
  hostTools: 'none',
  interrupt: 'clean',
  usage: 'turn',
  redaction: 'record',
  images: true,
  mcp: true,
  subagents: true,
  systemPrompt: 'append',
  models: null,
}

export interface CodexLiveOptions extends LiveOptions, Omit<CodexLaunchOptions, 'userConfig'> {}

/** Codex as an agent that stays and asks. */
export function codexLive(options: CodexLiveOptions = {}): AgentDriver {
  return liveDriver(
    {
      profile: codexProfile,
      dialect: codexAppServerDialect,
      capabilities: CAPABILITIES,
      launch: (request) => launchAppServer(request, options),
      anchorOf: turnOf,
      placeOf: ({ turnId }: NativeRef) => turnId,
      connect: (link) => new AppServerPeer(link),
    },
    options,
  )
}

/** A thread can be taken up at the end of a turn only. */
function turnOf({ native, parentToolCallId }: MappedEvent): string | undefined {
  return parentToolCallId === undefined ? native?.turnId : undefined
}
