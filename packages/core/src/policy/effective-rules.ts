import { NO_RULES, type PatternRule, type PermissionRules, type Policy } from '@inspan/protocol'
import { onlyDenies } from './rule-book.ts'

export interface RulesByLevel {
  readonly harness?: PermissionRules
  readonly session?: PermissionRules
  readonly thread?: PermissionRules
  /** The rules a run was started under; only their denies count. */
  readonly run?: PermissionRules
}

/**
 * Merges all levels into one set of rules. A deny at any level wins, else the nearest level decides; all patterns are
 * kept.
 */
export function effectiveRules({ harness, run, session, thread }: RulesByLevel): PermissionRules {
  const levels = [thread, session, harness, run === undefined ? undefined : onlyDenies(run)].map(
    (rules) => rules ?? NO_RULES,
  )
  return {
    categories: unite(levels.map(({ categories }) => categories)),
    tools: unite(levels.map(({ tools }) => tools)),
    patterns: distinct(levels.flatMap(({ patterns }) => patterns)),
  }
}

/** Lists the levels from the farthest to the nearest, then the denies: the last entry for a name wins. */
function unite(levels: readonly { readonly [key: string]: Policy }[]): { [key: string]: Policy } {
  const stated = levels.toReversed().flatMap((level) => Object.entries(level))
  return Object.fromEntries([...stated, ...stated.filter(([, policy]) => policy === 'deny')])
}

function distinct(patterns: readonly PatternRule[]): PatternRule[] {
  const byKey = new Map(patterns.map((rule) => [JSON.stringify([rule.tool, rule.pattern, rule.policy]), rule]))
  return [...byKey.values()]
}
