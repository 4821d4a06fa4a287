import type { AgentDriver } from '@evener/protocol'
import { refuseLevel, transportOf, type TransportOptions } from '../live/transport.ts'
import { claudeCode as claudeCodePrint } from './driver.ts'
import { claudeCodeLive, type ClaudeLiveOptions } from './live.ts'
import { claudeCodeProfile } from './profile.ts'

export interface ClaudeCodeAgentOptions extends ClaudeLiveOptions, TransportOptions {}

/** Claude Code as an agent: live when somebody can answer its questions, else a process for every turn. */
export function claudeCode({ transport, canAnswer, ...options }: ClaudeCodeAgentOptions = {}): AgentDriver {
  if (transportOf({ transport, canAnswer }) === 'print') return claudeCodePrint(options)
  refuseLevel(claudeCodeProfile.title, options.permissions)
  return claudeCodeLive(options)
}
