import type { AgentDriver } from '@evener/protocol'
import { transportOf, type AgentOptions } from '../live/transport.ts'
import { opencode as opencodePrint, type OpencodeOptions } from './driver.ts'
import { opencodeLive, type OpencodeLiveOptions } from './live.ts'

export type OpencodeAgentOptions = AgentOptions<OpencodeOptions, OpencodeLiveOptions>

/** OpenCode as an agent: over ACP when somebody can answer its questions, else a process for every turn. */
export function opencode({ transport, canAnswer, ...options }: OpencodeAgentOptions = {}): AgentDriver {
  return transportOf({ transport, canAnswer }) === 'live' ? opencodeLive(options) : opencodePrint(options)
}
