/** What something has cost, and who counted it. */
export interface KnownCost {
  /** US dollars; 0 when nothing is known. */
  readonly costUsd: number
  /** The part of `costUsd` that was calculated from list prices. The rest is what the agent or its provider reported. */
  readonly estimatedUsd?: number
}

/** Returns a cost in words: `$0.0123 billed` if an agent has reported it, `$0.0123 estimated` if it follows from list prices. */
export function describeCost({ costUsd, estimatedUsd = 0 }: KnownCost): string {
  if (costUsd === 0) return ''
  const dollars = `$${costUsd.toFixed(4)}`
  if (estimatedUsd === 0) return `${dollars} billed`
  // Sums of the same prices may differ in their last digits.
  if (costUsd - estimatedUsd < costUsd * 1e-6) return `${dollars} estimated`
  return `${dollars}, $${estimatedUsd.toFixed(4)} of it estimated`
}
