import type { Decision } from '@inspan/protocol/driver'
import type { RuleLevel } from './policy-types.ts'
import { ruleName, type PlacedRule } from './rule-book.ts'

/** A rule that applies to a part of a call. */
export interface Finding {
  readonly level: RuleLevel
  readonly rule: string
  readonly about: NonNullable<Decision['about']>
  readonly part: string
  /** Why the rule may apply to that part, if that is not certain. */
  readonly why?: string | null
}

/** A part of a call that is judged on its own. */
export interface Piece {
  readonly part: string
  /** The part is a file that is written: it is judged as an edit, not by the category of the tool. */
  readonly isWrite: boolean
  readonly ask: Finding | null
  readonly allow: Finding | null
  /** Why no rule can allow the part. */
  readonly obscure: string | null
  /** Why a rule that seems to allow the part does not. */
  readonly near: string | null
}

/** What the rules with patterns say about a call. */
export interface Judgement {
  readonly denied: Finding | null
  /** A deny that may or may not apply: somebody has to look. */
  readonly doubtful: Finding | null
  readonly pieces: readonly Piece[]
}

export function piece(part: string, given: Partial<Piece> = {}): Piece {
  return { part, isWrite: false, ask: null, allow: null, obscure: null, near: null, ...given }
}

export function finding({ level, rule }: PlacedRule, part: string, why: string | null = null): Finding {
  return { level, rule: ruleName(rule), about: { tool: rule.tool }, part, why }
}
