import type { AgentDriver, Capabilities } from '@evener/protocol'
import { printDriver, type PrintOptions } from '../launch/print-driver.ts'
import { launchCline, type ClineLaunchOptions } from './launch.ts'
import { clineDialect } from './mapper.ts'
import { clineProfile } from './profile.ts'
import { clineSessionOf } from './session-lookup.ts'

/** It runs its tools without asking anybody; those it may not use are not there. In print mode it cannot resume. */
const CAPABILITIES: Capabilities = {
  governs: 'none',
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
}

export interface ClineOptions extends PrintOptions, ClineLaunchOptions {
  /** `print`: a process for every turn. */
  readonly transport?: 'print'
}

/** Cline as an agent. It cannot be kept to its directory: with the right to edit it may edit any file. */
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
