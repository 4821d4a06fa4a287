import { finding, type Finding } from './judgement.ts'
import {
  type Reach,
  type Touch,
  type Whereabouts,
  coversPath,
  globReach,
  pathReach,
  strongest,
} from '@inspan/shell/judge'
import type { PlacedRule } from './rule-book.ts'

/**
 * Returns the denies or asks about files. One for a single tool that reads or edits files holds for all such tools, and
 * for what commands do to files.
 */
export function strictFileRules(rules: readonly PlacedRule[], policy: 'ask' | 'deny'): PathRule[] {
  return rules.filter((rule) => rule.kind === 'path').filter(({ rule }) => rule.policy === policy)
}

export type PathRule = Extract<PlacedRule, { kind: 'path' }>

/** Returns whether a rule about files applies to what a command does to one. */
export function touchReach(rule: PathRule, touch: Touch, where: Whereabouts): Reach {
  const { access, isCertain, isGlob, isTree, path } = touch
  if (rule.category !== 'read' && rule.category !== 'edit') return 'no'
  if (access !== 'either' && access !== rule.category) return 'no'
  if (path === null) return isCertain ? 'maybe' : 'no'
  const places = touch.from.length === 0 ? [where.start] : touch.from
  if (isGlob) {
    return strongest(...places.map((start) => globReach(rule.pattern, path, { ...where, start }, touch)))
  }
  const found = strongest(...places.map((start) => pathReach(rule.pattern, path, { ...where, start }, isTree)))
  if (isCertain || found === 'no') return found
  // The word may be no path at all: only a clear match is worth a question.
  return found === 'yes' || isTree ? 'maybe' : 'no'
}

/** Finds the rule that allows a file to be written. */
export function findWriteAllow(rules: readonly PlacedRule[], touch: Touch, where: Whereabouts): Finding | null {
  const { from, isGlob, path, part } = touch
  if (path === null || isGlob || from.length === 0) return null
  const allow = rules.find(
    (rule): rule is PathRule =>
      rule.kind === 'path' &&
      rule.rule.policy === 'allow' &&
      rule.category === 'edit' &&
      from.every((start) => coversPath(rule.pattern, path, { ...where, start })),
  )
  return allow === undefined ? null : finding(allow, part)
}
