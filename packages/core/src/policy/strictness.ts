import type { Policy } from '@inspan/protocol'

const STRICTNESS: Readonly<Record<Policy, number>> = { allow: 0, ask: 1, deny: 2 }

export function isStricter(policy: Policy, than: Policy): boolean {
  return STRICTNESS[policy] > STRICTNESS[than]
}

/** Returns the strictest; the first of several that are equally strict. */
export function strictest<T extends { readonly policy: Policy }>(first: T, ...others: readonly T[]): T {
  return others.reduce((kept, other) => (isStricter(other.policy, kept.policy) ? other : kept), first)
}
