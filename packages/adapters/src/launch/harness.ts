import type { AgentDriver } from '@evener/protocol'
import type { Dialect } from '../kit/mapper.ts'
import type { LiveOptions } from '../live/live-driver.ts'
import type { PrintOptions } from './print-driver.ts'
import type { CliProfile } from './profile.ts'

/** A foreign program that can be started by its id: what its folder has for everybody else. */
export interface Harness {
  readonly profile: CliProfile
  /** How the lines it prints become events. */
  readonly dialect: Dialect
  /** A process for every turn. */
  readonly agent: (options: PrintOptions) => AgentDriver
  /** A process that stays, where it has such a way. */
  readonly live?: (options: LiveOptions) => AgentDriver
  /** How it speaks then, where that is not what it prints. */
  readonly liveDialect?: Dialect
}
