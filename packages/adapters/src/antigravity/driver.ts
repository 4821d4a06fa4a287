import type { AgentDriver } from '@inspan/protocol/driver'
import { PRINT_CAPABILITIES, printDriver, type PrintOptions } from '../launch/print-driver.ts'
import { launchAntigravity, type AntigravityLaunchOptions } from './launch.ts'
import { antigravityDialect } from './mapper.ts'
import { antigravityProfile } from './profile.ts'

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
      // Print mode outputs the answer and nothing else, so nothing more can be promised.
      capabilities: PRINT_CAPABILITIES,
      launch: (request) => launchAntigravity(request, options),
    },
    options,
  )
}
