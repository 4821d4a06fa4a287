import type { AgentDriver } from '@inspan/protocol/driver'
import { transportOf, type LiveAgentOptions } from '../live/transport.ts'
import { opencode as opencodePrint, type OpencodeOptions } from './driver.ts'
import { opencodeLive, type OpencodeLiveOptions } from './live.ts'

export type OpencodeAgentOptions = LiveAgentOptions<OpencodeOptions, OpencodeLiveOptions>

/** Makes an agent of OpenCode: over ACP if somebody can answer its questions, otherwise one process per turn. */
export function opencode({ transport, canAnswer, ...options }: OpencodeAgentOptions = {}): AgentDriver {
  if (transportOf({ transport, canAnswer }) === 'print') return opencodePrint(options)
  return opencodeLive(options)
}
