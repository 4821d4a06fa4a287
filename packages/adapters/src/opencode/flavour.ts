import type { Dialect } from '../kit/mapper.ts'
import type { NativeTools } from '../launch/offered-tools.ts'
import type { CliProfile } from '../launch/profile.ts'

/** What tells the programs that are built on OpenCode apart. */
export interface Flavour {
  readonly profile: CliProfile
  readonly dialect: Dialect
  /** Of its environment variables. */
  readonly prefix: string
  /** Whose name its server wants to hear. */
  readonly serverUser: string
  readonly tools: NativeTools
  /** Variables that are set for every run. */
  readonly env: Readonly<Record<string, string>>
}
