/** The raw output of programs, kept per run beside the log. */
export interface RawSpool {
  /** Whether it is on this machine only. Machines that share a store take none: an erasure elsewhere would not reach it. */
  readonly isLocal?: boolean
  /** Removes the spool of the run; false when there was none. */
  remove(run: { readonly threadId: string; readonly runId: string }): Promise<boolean>
  /** Removes the spools of all the thread's runs; false when there was none. */
  removeThread(thread: { readonly threadId: string }): Promise<boolean>
}
