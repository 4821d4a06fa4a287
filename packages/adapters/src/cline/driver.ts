import type { AgentDriver, Capabilities } from '@inspan/protocol/driver'
import { printDriver, type PrintOptions } from '../launch/print-driver.ts'
import { launchCline, type ClineLaunchOptions } from './launch.ts'
import { clineDialect } from './mapper.ts'
import { clineProfile } from './profile.ts'
import { clineSessionOf } from './session-lookup.ts'

/** In print mode Cline runs its tools without asking and cannot resume. Denied tools are not offered to it. */
const CAPABILITIES: Capabilities = {
  governs: 'none',
  continuity: 'native',
  steer: 'none',
  resume: 'none',
  fork: 'none',
  handover: 'text',
  hostTools: 'none',
  interrupt: 'kill',
  usage: 'turn',
  redaction: 'record',
  images: false,
  mcp: true,
  subagents: true,
  systemPrompt: 'replace',
  models: null,
  effort: [],
  output: false,
  limits: false,
  sessions: false,
}

export interface ClineOptions extends PrintOptions, ClineLaunchOptions {
  /** `print` starts a process for every turn. */
  readonly transport?: 'print'
}

/** Makes an agent of Cline in print mode. Cline cannot be confined to its directory: it may edit all files or none. */
export function cline(options: ClineOptions = {}): AgentDriver {
  return printDriver(
    {
      profile: clineProfile,
      dialect: clineDialect,
      capabilities: CAPABILITIES,
      launch: (request) => launchCline(request, options),
      sessionOf: clineSessionOf,
    },
    options,
  )
}
