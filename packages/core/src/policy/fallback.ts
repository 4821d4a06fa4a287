import type { Grants, Policy, ToolCategory } from '@inspan/protocol'
import type { Decision } from '@inspan/protocol/driver'
import type { PolicyStep, RuleLevel } from './policy-types.ts'
import type { PlacedRules } from './rule-book.ts'
import { strictest } from './strictness.ts'

/** A rule about a whole tool or category. */
export interface BareRule {
  readonly policy: Policy
  readonly step: PolicyStep
  readonly rule?: string
  readonly about?: Decision['about']
  readonly level?: RuleLevel
}

/** Returns a deny of any level, else the policy of the nearest level. */
function lookUp(
  levels: readonly PlacedRules[],
  read: (level: PlacedRules) => Policy | undefined,
): { readonly policy: Policy; readonly level: RuleLevel } | undefined {
  const stated = levels.flatMap((level) => {
    const policy = read(level)
    return policy === undefined ? [] : [{ policy, level: level.level }]
  })
  return stated.find(({ policy }) => policy === 'deny') ?? stated[0]
}

export function toolRule(levels: readonly PlacedRules[], toolName: string): BareRule | undefined {
  const found = lookUp(levels, ({ rules }) =>
    Object.hasOwn(rules.tools, toolName) ? rules.tools[toolName] : undefined,
  )
  return found && { ...found, step: 'tool', rule: `${found.policy} ${toolName}`, about: { tool: toolName } }
}

export function categoryRule(levels: readonly PlacedRules[], category: ToolCategory): BareRule | undefined {
  const found = lookUp(levels, ({ rules }) =>
    Object.hasOwn(rules.categories, category) ? rules.categories[category] : undefined,
  )
  return found && { ...found, step: 'category', rule: `${found.policy} category ${category}`, about: { category } }
}

export interface BareCall {
  readonly toolName: string
  /** The categories of the call; more than one where the tool and the harness disagree. */
  readonly categories: readonly ToolCategory[]
  /** True for a tool whose own hints say that it does more: its category is not enough to allow it. */
  readonly isCautious: boolean
  readonly grants: Grants
}

/** Whether a decision was made by a grant, which somebody may take back at any time. */
export function isByGrant({ rule }: Pick<Decision, 'rule'>): boolean {
  return rule?.startsWith(GRANT) === true
}

const GRANT = 'grant '

/** Steps 6 to 9 of docs/guide/permissions.md: the rule of the tool, a grant, the rule of the category, else ask. */
export function bareDecision(levels: readonly PlacedRules[], call: BareCall): BareRule {
  const { categories, grants, toolName } = call
  const tool = toolRule(levels, toolName)
  if (tool !== undefined) return tool
  if (grants.tools.includes(toolName)) {
    return { policy: 'allow', step: 'grant', rule: `${GRANT}${toolName}`, about: { tool: toolName } }
  }
  const [first, ...others] = categories.map((category) => categoryDecision(levels, category, grants))
  if (first === undefined) return { policy: 'ask', step: 'default' }
  const decided = strictest(first, ...others)
  return call.isCautious && decided.policy === 'allow' ? { policy: 'ask', step: 'default' } : decided
}

function categoryDecision(levels: readonly PlacedRules[], category: ToolCategory, grants: Grants): BareRule {
  if (grants.categories.includes(category)) {
    return { policy: 'allow', step: 'grant', rule: `${GRANT}category ${category}`, about: { category } }
  }
  return categoryRule(levels, category) ?? { policy: 'ask', step: 'default' }
}
