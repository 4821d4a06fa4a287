import type { AgentDriver, Capabilities } from '@inspan/protocol/driver'
import { printDriver, type PrintOptions } from '../launch/print-driver.ts'
import { launchAntigravity, type AntigravityLaunchOptions } from './launch.ts'
import { antigravityDialect } from './mapper.ts'
import { antigravityProfile } from './profile.ts'

/** Print mode outputs the answer and nothing else, so no other capability can be promised. */
const CAPABILITIES: Capabilities = {
  governs: 'none',
  continuity: 'native',
  steer: 'none',
  resume: 'none',
  fork: 'none',
  handover: 'text',
  hostTools: 'none',
  interrupt: 'kill',
  usage: 'none',
  redaction: 'record',
  images: false,
  mcp: false,
  subagents: false,
  systemPrompt: 'none',
  models: null,
  effort: [],
  output: false,
  limits: false,
  sessions: false,
}

export interface AntigravityOptions extends PrintOptions, AntigravityLaunchOptions {
  /** `print` starts a process for every turn. The only transport, and the default. */
  readonly transport?: 'print'
}

/** Makes an agent of Antigravity, best effort: no version of it was tested. */
export function antigravity(options: AntigravityOptions = {}): AgentDriver {
  return printDriver(
    {
      profile: antigravityProfile,
      dialect: antigravityDialect,
      capabilities: CAPABILITIES,
      launch: (request) => launchAntigravity(request, options),
    },
    options,
  )
}
