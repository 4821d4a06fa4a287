import type { AgentDriver } from '@inspan/protocol/driver'
import { transportOf, type TransportOptions } from '../live/transport.ts'
import { claudeCode as claudeCodePrint } from './driver.ts'
import { claudeCodeLive, type ClaudeLiveOptions } from './live.ts'

export interface ClaudeCodeAgentOptions extends ClaudeLiveOptions, TransportOptions {}

/** Makes an agent of Claude Code: live if somebody can answer its questions, otherwise one process per turn. */
export function claudeCode({ transport, canAnswer, ...options }: ClaudeCodeAgentOptions = {}): AgentDriver {
  if (transportOf({ transport, canAnswer }) === 'print') return claudeCodePrint(options)
  return claudeCodeLive(options)
}
