import type { Pairing } from './auth/pairing.ts'
import type { CommandDesk } from './commands/command-desk.ts'
import type { Connection } from './connection/connection.ts'
import type { GuardOptions } from './http/guard.ts'
import type { Hub } from './hub.ts'

/** What all transports of a server share. */
export interface ServerContext {
  readonly hub: Hub
  readonly desk: CommandDesk
  readonly guard: GuardOptions
  readonly pairing: Pairing
  readonly folders: readonly string[]
  /** The connections of clients in this process. */
  readonly locals: Set<Connection>
}
