import type { AgentDriver } from '@inspan/protocol/driver'
import { codexLive, type CodexLiveOptions } from './app-server/driver.ts'
import { transportOf, type TransportOptions } from '../live/transport.ts'
import { codex as codexPrint, type CodexOptions } from './driver.ts'

export interface CodexAgentOptions
  extends CodexLiveOptions, TransportOptions, Omit<CodexOptions, 'transport' | keyof CodexLiveOptions> {}

/** Makes an agent of Codex: live if somebody can answer its questions, otherwise one process per turn. */
export function codex({ transport, canAnswer, ...options }: CodexAgentOptions = {}): AgentDriver {
  if (transportOf({ transport, canAnswer }) === 'print') return codexPrint(options)
  return codexLive(options)
}
