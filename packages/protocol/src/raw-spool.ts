/** The raw output of programs, kept per run beside the log. */
export interface RawSpool {
  /** Removes the spool of the run; false when there was none. */
  remove(run: { readonly threadId: string; readonly runId: string }): Promise<boolean>
  /** Removes the spools of all the thread's runs; false when there was none. */
  removeThread(thread: { readonly threadId: string }): Promise<boolean>
}
