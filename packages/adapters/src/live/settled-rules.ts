import type { PermissionRules, Policy } from '@inspan/protocol'

/** Returns the rules without those that ask: each call is asked about when it comes. Those that allow or deny stay. */
export function settledRules(rules: PermissionRules): PermissionRules {
  const isSettled = ([, policy]: readonly [string, Policy]): boolean => policy !== 'ask'
  return {
    categories: Object.fromEntries(Object.entries(rules.categories).filter(isSettled)),
    tools: Object.fromEntries(Object.entries(rules.tools).filter(isSettled)),
    patterns: rules.patterns.filter(({ policy }) => policy !== 'ask'),
  }
}
