import type { Decision } from '@evener/protocol'
import type { RuleLevel } from './policy-types.ts'
import { ruleName, type PlacedRule } from './rule-book.ts'

/** A rule that speaks about a part of a call. */
export interface Finding {
  readonly level: RuleLevel
  readonly rule: string
  readonly about: NonNullable<Decision['about']>
  readonly part: string
  /** Why it may mean that part, if it is not certain. */
  readonly why?: string | null
}

/** A part of a call that is judged by itself. */
export interface Piece {
  readonly part: string
  /** The file it writes: judged as an edit, not as what the tool is. */
  readonly isWrite: boolean
  readonly ask: Finding | null
  readonly allow: Finding | null
  /** Why no rule may allow it. */
  readonly obscure: string | null
  /** Why a rule that looks as if it allowed it does not. */
  readonly near: string | null
}

/** What the patterned rules say about a call. */
export interface Judgement {
  readonly denied: Finding | null
  /** A deny that may or may not mean it: somebody has to look. */
  readonly doubtful: Finding | null
  readonly pieces: readonly Piece[]
}

export function piece(part: string, given: Partial<Piece> = {}): Piece {
  return { part, isWrite: false, ask: null, allow: null, obscure: null, near: null, ...given }
}

export function finding({ level, rule }: PlacedRule, part: string, why: string | null = null): Finding {
  return { level, rule: ruleName(rule), about: { tool: rule.tool }, part, why }
}
