import type { AgentDriver } from '@inspan/protocol/driver'
import { transportOf } from '../live/transport.ts'
import type { OpencodeAgentOptions } from '../opencode/agent.ts'
import { kiloCode as kiloCodePrint } from './driver.ts'
import { kiloCodeLive } from './live.ts'

/** Makes an agent of Kilo Code: over ACP if somebody can answer its questions, otherwise one process per turn. */
export function kiloCode({ transport, canAnswer, ...options }: OpencodeAgentOptions = {}): AgentDriver {
  if (transportOf({ transport, canAnswer }) === 'print') return kiloCodePrint(options)
  return kiloCodeLive(options)
}
