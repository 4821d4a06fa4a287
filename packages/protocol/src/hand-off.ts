/** Returns the queue id of a hand-off in the run. A run has only one, so a later hand-off replaces an earlier one. */
export function handOffId(run: { readonly runId: string } | null): string | undefined {
  return run === null ? undefined : `${run.runId}:hand-off`
}
