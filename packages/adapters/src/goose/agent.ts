import type { AgentDriver } from '@evener/protocol'
import { refuseLevel, transportOf, type AgentOptions } from '../live/transport.ts'
import { goose as goosePrint, type GooseOptions } from './driver.ts'
import { gooseLive, type GooseLiveOptions } from './live.ts'
import { gooseProfile } from './profile.ts'

export type GooseAgentOptions = AgentOptions<GooseOptions, GooseLiveOptions>

/** Goose as an agent: over ACP when somebody can answer its questions, else a process for every turn. */
export function goose({ transport, canAnswer, ...options }: GooseAgentOptions = {}): AgentDriver {
  if (transportOf({ transport, canAnswer }) === 'print') return goosePrint(options)
  refuseLevel(gooseProfile.title, options.permissions)
  return gooseLive(options)
}
