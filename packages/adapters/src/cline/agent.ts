import type { AgentDriver } from '@inspan/protocol/driver'
import { transportOf, type LiveAgentOptions } from '../live/transport.ts'
import { cline as clinePrint, type ClineOptions } from './driver.ts'
import { clineLive, type ClineLiveOptions } from './live.ts'

export type ClineAgentOptions = LiveAgentOptions<ClineOptions, ClineLiveOptions>

/** Makes an agent of Cline: over ACP if somebody can answer its questions, otherwise one process per turn. */
export function cline({ transport, canAnswer, ...options }: ClineAgentOptions = {}): AgentDriver {
  if (transportOf({ transport, canAnswer }) === 'print') return clinePrint(options)
  return clineLive(options)
}
