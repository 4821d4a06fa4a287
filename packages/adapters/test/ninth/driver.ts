import type { AgentDriver, Capabilities } from '@inspan/protocol/driver'
import { printDriver, type PrintOptions } from '../../src/launch/print-driver.ts'
import { launchNinth } from './launch.ts'
import { ninthDialect } from './mapper.ts'
import { ninthProfile } from './profile.ts'

/** Only what a test of the real program has shown. */
const CAPABILITIES: Capabilities = {
  governs: 'none',
  continuity: 'native',
  steer: 'none',
  resume: 'head',
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

export function ninth(options: PrintOptions = {}): AgentDriver {
  return printDriver(
    {
      profile: ninthProfile,
      dialect: ninthDialect,
      capabilities: CAPABILITIES,
      launch: launchNinth,
      lostSession: /no such session/,
    },
    options,
  )
}
