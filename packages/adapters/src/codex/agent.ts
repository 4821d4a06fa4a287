import type { AgentDriver } from '@evener/protocol'
import { codexLive, type CodexLiveOptions } from './app-server/driver.ts'
import { refuseLevel, transportOf, type TransportOptions } from '../live/transport.ts'
import { codex as codexPrint, type CodexOptions } from './driver.ts'
import { codexProfile } from './profile.ts'

export interface CodexAgentOptions
  extends CodexLiveOptions, TransportOptions, Omit<CodexOptions, 'transport' | keyof CodexLiveOptions> {}

/** Makes an agent of Codex: live if somebody can answer its questions, otherwise one process per turn. */
export function codex({ transport, canAnswer, ...options }: CodexAgentOptions = {}): AgentDriver {
  if (transportOf({ transport, canAnswer }) === 'print') return codexPrint(options)
  // The level would set the sandbox, but Codex asks to leave it, and a thread without rules allows that.
  refuseLevel(codexProfile.title, options.permissions)
  return codexLive(options)
}
