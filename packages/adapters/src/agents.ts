import type { AgentDriver } from '@evener/protocol'
import { cline as clinePrint, type ClineOptions } from './cline/driver.ts'
import { clineLive, type ClineLiveOptions } from './cline/live.ts'
import { goose as goosePrint, type GooseOptions } from './goose/driver.ts'
import { gooseLive, type GooseLiveOptions } from './goose/live.ts'
import { kiloCode as kiloCodePrint } from './kilo-code/driver.ts'
import { kiloCodeLive } from './kilo-code/live.ts'
import { transportOf, type TransportOptions } from './live/transport.ts'
import { opencode as opencodePrint, type OpencodeOptions } from './opencode/driver.ts'
import { opencodeLive, type OpencodeLiveOptions } from './opencode/live.ts'
import { pi as piPrint, type PiOptions } from './pi/driver.ts'
import { piLive, type PiLiveOptions } from './pi/live.ts'

/** What both ways of running a program take, and the choice between them. */
type AgentOptions<Print, Live> = TransportOptions & Live & Omit<Print, 'transport' | keyof Live>

export type ClineAgentOptions = AgentOptions<ClineOptions, ClineLiveOptions>
export type GooseAgentOptions = AgentOptions<GooseOptions, GooseLiveOptions>
export type OpencodeAgentOptions = AgentOptions<OpencodeOptions, OpencodeLiveOptions>
export type PiAgentOptions = AgentOptions<PiOptions, PiLiveOptions>

/** Cline as an agent: over ACP when somebody can answer its questions, else a process for every turn. */
export function cline({ transport, canAnswer, ...options }: ClineAgentOptions = {}): AgentDriver {
  return transportOf({ transport, canAnswer }) === 'live' ? clineLive(options) : clinePrint(options)
}

/** Goose as an agent: over ACP when somebody can answer its questions, else a process for every turn. */
export function goose({ transport, canAnswer, ...options }: GooseAgentOptions = {}): AgentDriver {
  return transportOf({ transport, canAnswer }) === 'live' ? gooseLive(options) : goosePrint(options)
}

/** Kilo Code as an agent: over ACP when somebody can answer its questions, else a process for every turn. */
export function kiloCode({ transport, canAnswer, ...options }: OpencodeAgentOptions = {}): AgentDriver {
  return transportOf({ transport, canAnswer }) === 'live' ? kiloCodeLive(options) : kiloCodePrint(options)
}

/** OpenCode as an agent: over ACP when somebody can answer its questions, else a process for every turn. */
export function opencode({ transport, canAnswer, ...options }: OpencodeAgentOptions = {}): AgentDriver {
  return transportOf({ transport, canAnswer }) === 'live' ? opencodeLive(options) : opencodePrint(options)
}

/** Pi as an agent: over its rpc mode when somebody is there to steer it, else a process for every turn. */
export function pi({ transport, canAnswer, ...options }: PiAgentOptions = {}): AgentDriver {
  return transportOf({ transport, canAnswer }) === 'live' ? piLive(options) : piPrint(options)
}
