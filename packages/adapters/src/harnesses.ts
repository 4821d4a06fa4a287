import type { AgentDriver } from '@evener/protocol'
import { antigravity } from './antigravity/driver.ts'
import { antigravityProfile } from './antigravity/profile.ts'
import { claudeCode } from './claude-code/driver.ts'
import { claudeCodeProfile } from './claude-code/profile.ts'
import { cline } from './cline/driver.ts'
import { clineProfile } from './cline/profile.ts'
import { codex } from './codex/driver.ts'
import { codexProfile } from './codex/profile.ts'
import { goose } from './goose/driver.ts'
import { gooseProfile } from './goose/profile.ts'
import { kiloCode } from './kilo-code/driver.ts'
import { kiloCodeProfile } from './kilo-code/profile.ts'
import type { PrintOptions } from './launch/print-driver.ts'
import type { CliProfile } from './launch/profile.ts'
import { opencode } from './opencode/driver.ts'
import { opencodeProfile } from './opencode/profile.ts'
import { pi } from './pi/driver.ts'
import { piProfile } from './pi/profile.ts'

/** A foreign program that can be started by its id. */
export interface Harness {
  readonly profile: CliProfile
  readonly agent: (options: PrintOptions) => AgentDriver
}

/** Every program that can be driven. */
export const harnesses: readonly Harness[] = [
  { profile: claudeCodeProfile, agent: claudeCode },
  { profile: codexProfile, agent: codex },
  { profile: clineProfile, agent: cline },
  { profile: gooseProfile, agent: goose },
  { profile: kiloCodeProfile, agent: kiloCode },
  { profile: opencodeProfile, agent: opencode },
  { profile: piProfile, agent: pi },
  { profile: antigravityProfile, agent: antigravity },
]
