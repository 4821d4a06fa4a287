import type { AgentDriver, Capabilities } from '@inspan/protocol/driver'
import { PRINT_CAPABILITIES, printDriver, type PrintOptions } from '../../src/launch/print-driver.ts'
import { launchNinth } from './launch.ts'
import { ninthDialect } from './mapper.ts'
import { ninthProfile } from './profile.ts'

/** Only what a test of the real program has shown. */
const CAPABILITIES: Capabilities = { ...PRINT_CAPABILITIES, resume: 'head' }

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
