import type { OtherProjects } from '@inspan/core/serving'
import type { Pairing } from './auth/pairing.ts'
import type { CommandExecutor } from './commands/command-executor.ts'
import type { ServedConnection } from './connection/connection.ts'
import type { GuardOptions } from './http/guard.ts'
import type { Hub } from './hub.ts'

/** What all transports of a server share. */
export interface ServerContext {
  readonly hub: Hub
  readonly executor: CommandExecutor
  readonly guard: GuardOptions
  readonly pairing: Pairing
  readonly folders: readonly string[]
  /** Whether clients may start threads in worktrees. */
  readonly worktrees: boolean
  /** Whether the overview also names threads of other projects. */
  readonly otherProjects: boolean
  /** The other projects whose threads can be opened. */
  readonly projects: OtherProjects | undefined
  /** The connections of clients in this process. */
  readonly locals: Set<ServedConnection>
}
