import type { AgentDriver } from '@evener/protocol'
import { refuseLevel, transportOf, type AgentOptions } from '../live/transport.ts'
import { opencode as opencodePrint, type OpencodeOptions } from './driver.ts'
import { opencodeLive, type OpencodeLiveOptions } from './live.ts'
import { opencodeProfile } from './profile.ts'

export type OpencodeAgentOptions = AgentOptions<OpencodeOptions, OpencodeLiveOptions>

/** Makes an agent of OpenCode: over ACP if somebody can answer its questions, otherwise one process per turn. */
export function opencode({ transport, canAnswer, ...options }: OpencodeAgentOptions = {}): AgentDriver {
  if (transportOf({ transport, canAnswer }) === 'print') return opencodePrint(options)
  refuseLevel(opencodeProfile.title, options.permissions)
  return opencodeLive(options)
}
