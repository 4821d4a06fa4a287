/**
 * Decides about a claim of a stream. `seenEpoch` is the epoch at which the present owner was found dead. It is compared
 * and swapped, so that only one of two claimants that found it gets the stream.
 */
export function judgeClaim(
  stream: { readonly owner: string | null; readonly epoch: number },
  owner: string,
  seenEpoch?: number,
): 'ours' | 'take' | 'held' {
  if (stream.owner === owner) return 'ours'
  return stream.owner === null || stream.epoch === seenEpoch ? 'take' : 'held'
}
