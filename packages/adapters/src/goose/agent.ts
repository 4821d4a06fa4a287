import type { AgentDriver } from '@inspan/protocol/driver'
import { transportOf, type LiveAgentOptions } from '../live/transport.ts'
import { goose as goosePrint, type GooseOptions } from './driver.ts'
import { gooseLive, type GooseLiveOptions } from './live.ts'

export type GooseAgentOptions = LiveAgentOptions<GooseOptions, GooseLiveOptions>

/** Makes an agent of Goose: over ACP if somebody can answer its questions, otherwise one process per turn. */
export function goose({ transport, canAnswer, ...options }: GooseAgentOptions = {}): AgentDriver {
  if (transportOf({ transport, canAnswer }) === 'print') return goosePrint(options)
  return gooseLive(options)
}
