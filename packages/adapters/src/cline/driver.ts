import type { AgentDriver, Capabilities } from '@inspan/protocol/driver'
import { PRINT_CAPABILITIES, printDriver, type PrintOptions } from '../launch/print-driver.ts'
import { launchCline, type ClineLaunchOptions } from './launch.ts'
import { clineDialect } from './mapper.ts'
import { clineProfile } from './profile.ts'
import { clineSessionOf } from './session-lookup.ts'

/** In print mode Cline runs its tools without asking and cannot resume. Denied tools are not offered to it. */
const CAPABILITIES: Capabilities = {
  ...PRINT_CAPABILITIES,
  usage: 'turn',
  mcp: true,
  subagents: true,
  systemPrompt: 'replace',
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
