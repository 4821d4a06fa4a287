import type { AgentDriver } from '@evener/protocol'
import { refuseLevel, transportOf } from '../live/transport.ts'
import type { OpencodeAgentOptions } from '../opencode/agent.ts'
import { kiloCode as kiloCodePrint } from './driver.ts'
import { kiloCodeLive } from './live.ts'
import { kiloCodeProfile } from './profile.ts'

/** Makes an agent of Kilo Code: over ACP if somebody can answer its questions, otherwise one process per turn. */
export function kiloCode({ transport, canAnswer, ...options }: OpencodeAgentOptions = {}): AgentDriver {
  if (transportOf({ transport, canAnswer }) === 'print') return kiloCodePrint(options)
  refuseLevel(kiloCodeProfile.title, options.permissions)
  return kiloCodeLive(options)
}
