import type { AgentDriver } from '@evener/protocol'
import { transportOf, type AgentOptions } from '../live/transport.ts'
import { goose as goosePrint, type GooseOptions } from './driver.ts'
import { gooseLive, type GooseLiveOptions } from './live.ts'

export type GooseAgentOptions = AgentOptions<GooseOptions, GooseLiveOptions>

/** Goose as an agent: over ACP when somebody can answer its questions, else a process for every turn. */
export function goose({ transport, canAnswer, ...options }: GooseAgentOptions = {}): AgentDriver {
  return transportOf({ transport, canAnswer }) === 'live' ? gooseLive(options) : goosePrint(options)
}
