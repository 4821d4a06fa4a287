/** What a hand-off in the run is called in the queue: a later one takes the place of an earlier one. */
export function handOffId(run: { readonly runId: string } | null): string | undefined {
  return run === null ? undefined : `${run.runId}:hand-off`
}
