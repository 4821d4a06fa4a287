/** The raw output of programs, kept per run beside the log. */
export interface RawSpool {
  /** Removes all that was kept of the run; false when there was nothing. */
  remove(run: { readonly threadId: string; readonly runId: string }): Promise<boolean>
  /** Removes all that was kept of the thread's runs; false when there was nothing. */
  removeThread(thread: { readonly threadId: string }): Promise<boolean>
}
