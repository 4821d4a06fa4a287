import type { AgentDriver } from '@evener/protocol'
import { claudeCode } from './claude-code/driver.ts'
import { claudeCodeProfile } from './claude-code/profile.ts'
import { codex } from './codex/driver.ts'
import { codexProfile } from './codex/profile.ts'
import type { PrintOptions } from './launch/print-driver.ts'
import type { CliProfile } from './launch/profile.ts'

/** A foreign program that can be started by its id. */
export interface Harness {
  readonly profile: CliProfile
  readonly agent: (options: PrintOptions) => AgentDriver
}

/** Every program that can be driven. */
export const harnesses: readonly Harness[] = [
  { profile: claudeCodeProfile, agent: claudeCode },
  { profile: codexProfile, agent: codex },
]
