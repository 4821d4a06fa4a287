import type { PermissionRules, Policy } from '@evener/protocol'

/** The rules without those that ask: those are asked, call by call. What is denied or allowed for good stays. */
export function settledRules(rules: PermissionRules): PermissionRules {
  const isSettled = ([, policy]: readonly [string, Policy]): boolean => policy !== 'ask'
  return {
    categories: Object.fromEntries(Object.entries(rules.categories).filter(isSettled)),
    tools: Object.fromEntries(Object.entries(rules.tools).filter(isSettled)),
    patterns: rules.patterns.filter(({ policy }) => policy !== 'ask'),
  }
}
