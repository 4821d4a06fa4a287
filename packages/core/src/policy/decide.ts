import { NO_GRANTS, type Grants, type ToolCategory } from '@inspan/protocol'
import type { ToolCallRequest } from '@inspan/protocol/driver'
import { bareDecision, categoryRule, toolRule } from './fallback.ts'
import type { Judgement, Piece } from './judgement.ts'
import type { Explained, GrantResult, PolicyContext } from './policy-types.ts'
import type { PlacedRules } from './rule-book.ts'
import { inOneLine, sayAllowed, sayAsked, sayBare, sayDenied, sayDoubtful, sayObscure } from './sentences.ts'
import { strictest } from './strictness.ts'

/** A call, and all that the rules say about it. */
export interface Case {
  readonly call: ToolCallRequest
  readonly context: PolicyContext
  readonly levels: readonly PlacedRules[]
  /** The categories of the call; more than one where the tool and the harness disagree. */
  readonly categories: readonly ToolCategory[]
  readonly judgement: Judgement
}

/** Decides by the order of the rules, from the one that nothing overrides to the default. */
export function decide(found: Case): Explained {
  const { call, context, judgement } = found
  const decided = findDeny(found) ?? findAnswer(context)
  if (decided !== null) return decided
  // Before yolo: a deny that may apply must not be treated as one that does not.
  if (judgement.doubtful !== null) return sayDoubtful(judgement.doubtful, judgement.pieces)
  if (context.yolo === true)
    return { policy: 'allow', step: 'yolo', reason: 'everything that is not denied is allowed' }
  if (context.inDoubt === true) {
    const reason = 'the same call was interrupted before, and nobody knows whether it had its effect'
    return { policy: 'ask', step: 'in-doubt', reason }
  }
  if (context.definitionChanged === true) {
    return {
      policy: 'ask',
      step: 'definition',
      reason: `${inOneLine(call.toolName)} is not the tool it was when it was allowed`,
    }
  }
  // Of equally strict parts, one that a rule is about explains more than one that no rule is about.
  const decisions = judgement.pieces.map((each) => decidePiece(each, found))
  const [first, ...others] = decisions.sort((a, b) => Number(a.step === 'default') - Number(b.step === 'default'))
  return first === undefined
    ? sayBare({ policy: 'ask', step: 'default' }, call.toolName, null)
    : strictest(first, ...others)
}

function findDeny({ call, categories, judgement, levels }: Case): Explained | null {
  const bare = [toolRule(levels, call.toolName), ...categories.map((category) => categoryRule(levels, category))]
  const deny = bare.find((rule) => rule?.policy === 'deny')
  if (deny !== undefined) return { ...sayBare(deny, call.toolName, null), step: 'deny' }
  return judgement.denied === null ? null : sayDenied(judgement.denied)
}

function findAnswer({ answered, hash }: PolicyContext): Explained | null {
  if (answered === undefined || hash === undefined || answered.hash !== hash) return null
  const because = answered.reason === undefined ? '' : `: ${inOneLine(answered.reason)}`
  switch (answered.decision) {
    case 'approve':
      return { policy: 'allow', step: 'answer', reason: `this very call was approved${because}` }
    case 'decline':
      return { policy: 'deny', step: 'answer', reason: `this very call was declined${because}` }
    case 'answer':
      return null
  }
}

function decidePiece(judged: Piece, found: Case): Explained {
  const { allow, ask, obscure, part } = judged
  if (ask !== null) return sayAsked(ask)
  if (obscure !== null) return sayObscure(part, obscure)
  if (allow !== null) return sayAllowed(allow)
  const { call, context, levels } = found
  const bare = bareDecision(levels, {
    toolName: call.toolName,
    categories: judged.isWrite ? ['edit'] : found.categories,
    isCautious: isCautious(found),
    grants: context.grants ?? NO_GRANTS,
  })
  return sayBare(bare, call.toolName, judged)
}

/**
 * A server's hints about its tool may raise caution, never lower it. True when no category is enough to allow the tool.
 */
function isCautious({ call, categories }: Case): boolean {
  const { annotations, serverName } = call
  if (serverName === undefined || annotations === undefined) return false
  return annotations.destructiveHint === true || (annotations.readOnlyHint === false && categories.includes('read'))
}

/** Returns the grants after an "always". Refused where they would not hold, or where a rule wants to ask. */
export function grant(found: Case, scope: 'tool' | 'category'): GrantResult {
  const { call, categories, context } = found
  const grants: Grants = context.grants ?? NO_GRANTS
  const refusal = findRefusal(found)
  if (refusal !== null) return { granted: false, reason: refusal }
  if (scope === 'tool') return { granted: true, grants: { ...grants, tools: added(grants.tools, [call.toolName]) } }
  if (categories.length === 0)
    return { granted: false, reason: `the category of ${inOneLine(call.toolName)} is not known` }
  if (isCautious(found))
    return { granted: false, reason: `${inOneLine(call.toolName)} says that it can destroy: allow it by its name` }
  return { granted: true, grants: { ...grants, categories: added(grants.categories, categories) } }
}

function findRefusal(found: Case): string | null {
  const { call, judgement, levels } = found
  const denied = findDeny(found)
  if (denied !== null) return denied.reason
  const ask = judgement.pieces.find((each) => each.ask !== null)?.ask ?? null
  if (ask !== null) return sayAsked(ask).reason
  if (judgement.doubtful !== null) return sayDoubtful(judgement.doubtful, judgement.pieces).reason
  const bare = toolRule(levels, call.toolName)
  return bare?.policy === 'ask' ? sayBare(bare, call.toolName, null).reason : null
}

function added<T>(to: readonly T[], items: readonly T[]): T[] {
  return [...new Set([...to, ...items])]
}
