import type { AgentDriver } from '@inspan/protocol/driver'
import { transportOf, type LiveAgentOptions } from '../live/transport.ts'
import { pi as piPrint, type PiOptions } from './driver.ts'
import { piLive, type PiLiveOptions } from './live.ts'

export type PiAgentOptions = LiveAgentOptions<PiOptions, PiLiveOptions>

/** Makes an agent of Pi: in its rpc mode if somebody is there to steer it, otherwise one process per turn. */
export function pi({ transport, canAnswer, ...options }: PiAgentOptions = {}): AgentDriver {
  return transportOf({ transport, canAnswer }) === 'live' ? piLive(options) : piPrint(options)
}
