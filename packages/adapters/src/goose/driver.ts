import type { AgentDriver, Capabilities } from '@inspan/protocol/driver'
import { PRINT_CAPABILITIES, printDriver, type PrintOptions } from '../launch/print-driver.ts'
import { launchGoose, type GooseLaunchOptions } from './launch.ts'
import { gooseDialect } from './mapper.ts'
import { gooseProfile } from './profile.ts'
import { gooseSessionOf, placeGooseSession } from './sessions.ts'

/** In print mode Goose runs its tools without asking. Denied tools are not offered. It resumes at a session's end. */
const CAPABILITIES: Capabilities = {
  ...PRINT_CAPABILITIES,
  resume: 'head',
  usage: 'cumulative',
  mcp: true,
  subagents: true,
  systemPrompt: 'append',
  maxSteps: true,
}

export interface GooseOptions extends PrintOptions, GooseLaunchOptions {
  /** `print` starts a process for every turn. */
  readonly transport?: 'print'
}

/**
 * Makes an agent of Goose in print mode. Goose cannot be confined to its directory. If it may not run commands it
 * cannot read files either, because it has no tool for reading.
 */
export function goose(options: GooseOptions = {}): AgentDriver {
  return printDriver(
    {
      profile: gooseProfile,
      dialect: gooseDialect,
      capabilities: CAPABILITIES,
      launch: (request) => launchGoose(request, options),
      place: placeGooseSession,
      sessionOf: gooseSessionOf,
      lostSession: /no such session exists/,
    },
    options,
  )
}
