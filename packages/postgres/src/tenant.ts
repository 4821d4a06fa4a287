// Apart from `tenants.ts`, so that the published types do not need those of `pg`.

/** What is decided about the threads of one resource id. Whatever is left out does not apply. */
export interface Tenant {
  readonly resourceId: string
  /** A login role of Postgres, which has to exist. Its connections reach the rows of this tenant only. */
  readonly role?: string
  readonly maxThreads?: number
  /** Commands that were accepted and not carried out yet. */
  readonly maxCommands?: number
  /** Of all records, messages and blobs ever written to the threads that exist. */
  readonly maxBytes?: number
  /** Threads that nobody works on and that have not changed for so long are deleted. Milliseconds. */
  readonly keepMs?: number
}
