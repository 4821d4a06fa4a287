/**
 * What a claim may do to a stream. With `seenEpoch` the present owner was found dead: compare-and-swap, so that of two
 * that found it one gets the stream.
 */
export function judgeClaim(
  stream: { readonly owner: string | null; readonly epoch: number },
  owner: string,
  seenEpoch?: number,
): 'ours' | 'take' | 'held' {
  if (stream.owner === owner) return 'ours'
  return stream.owner === null || stream.epoch === seenEpoch ? 'take' : 'held'
}
