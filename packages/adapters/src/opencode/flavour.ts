import type { Dialect } from '../kit/mapper.ts'
import type { NativeTools } from '../launch/offered-tools.ts'
import type { CliProfile } from '../launch/profile.ts'

/** How OpenCode and the programs built on it differ. */
export interface Flavour {
  readonly profile: CliProfile
  readonly dialect: Dialect
  /** Prefix of the environment variables. */
  readonly prefix: string
  /** The user name that its server expects. */
  readonly serverUser: string
  readonly tools: NativeTools
  /** Variables that are set for every run. */
  readonly env: Readonly<Record<string, string>>
}
