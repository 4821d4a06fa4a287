/** Returns the queue id of a hand-off in the run. A run has only one, so a later hand-off replaces an earlier one. */
export function handOffId({ runId }: { readonly runId: string }): string {
  return `${runId}:hand-off`
}
