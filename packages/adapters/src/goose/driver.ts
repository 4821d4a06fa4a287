import type { AgentDriver, Capabilities } from '@evener/protocol'
import { placedDriver } from '../launch/placed-driver.ts'
import type { PrintOptions } from '../launch/print-driver.ts'
import { launchGoose, type GooseLaunchOptions } from './launch.ts'
import { gooseDialect } from './mapper.ts'
import { gooseProfile } from './profile.ts'
import { gooseSessionOf, placeGooseSession } from './sessions.ts'

/** It runs its tools without asking anybody; those it may not use are not there. Its messages cannot be gone back to. */
const CAPABILITIES: Capabilities = {
  governs: 'none',
  steer: 'none',
  resume: 'head',
  fork: 'none',
  handover: 'text',
  hostTools: 'none',
  interrupt: 'kill',
  usage: 'cumulative',
  redaction: 'record',
  images: false,
  mcp: true,
  subagents: true,
  systemPrompt: 'append',
  models: null,
}

export interface GooseOptions extends PrintOptions, GooseLaunchOptions {
  /** `print`: a process for every turn. */
  readonly transport?: 'print'
}

/**
 * Goose as an agent. It cannot be kept to its directory, and without the right to run commands it cannot read files: it
 * has no tool for that.
 */
export function goose(options: GooseOptions = {}): AgentDriver {
  return placedDriver(
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
