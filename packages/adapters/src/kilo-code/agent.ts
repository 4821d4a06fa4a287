import type { AgentDriver } from '@evener/protocol'
import { refuseLevel, transportOf } from '../live/transport.ts'
import type { OpencodeAgentOptions } from '../opencode/agent.ts'
import { kiloCode as kiloCodePrint } from './driver.ts'
import { kiloCodeLive } from './live.ts'
import { kiloCodeProfile } from './profile.ts'

/** Kilo Code as an agent: over ACP when somebody can answer its questions, else a process for every turn. */
export function kiloCode({ transport, canAnswer, ...options }: OpencodeAgentOptions = {}): AgentDriver {
  if (transportOf({ transport, canAnswer }) === 'print') return kiloCodePrint(options)
  refuseLevel(kiloCodeProfile.title, options.permissions)
  return kiloCodeLive(options)
}
