import type { AgentDriver } from '@inspan/protocol/driver'
import type { Dialect } from '../kit/mapper.ts'
import type { LiveOptions } from '../live/live-driver.ts'
import type { PrintOptions } from './print-driver.ts'
import type { CliProfile } from './profile.ts'

/** A CLI that can be chosen by its id: what its folder exports for the rest of the code. */
export interface Cli {
  readonly profile: CliProfile
  /** Reads what the CLI prints in print mode. */
  readonly dialect: Dialect
  /** Makes an agent that starts a process for every turn. */
  readonly agent: (options: PrintOptions) => AgentDriver
  /** Makes an agent whose process stays between turns. Absent if the CLI has no such mode. */
  readonly live?: (options: LiveOptions) => AgentDriver
  /** Reads the CLI's output in live mode, if that differs from `dialect`. */
  readonly liveDialect?: Dialect
}
