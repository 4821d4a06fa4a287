import { InspanError, type PatternRule, type PermissionRules, type Policy, type ToolCategory } from '@inspan/protocol'
import type { LaunchRequest } from './launch-plan.ts'
import type { RunWarning } from './run-note.ts'
import { kindOfTool } from './tool-kinds.ts'

/**
 * What an agent may do when nobody can be asked. `read-only`: look around. `edit`: change files in its directory and
 * use the MCP servers it was given. `full`: everything.
 */
export type PermissionLevel = 'read-only' | 'edit' | 'full'

/** `withheld`: neither allowed nor denied, so the CLI's own defaults decide. */
type Standing = 'allow' | 'deny' | 'withheld'

const GRANTED: Readonly<Record<PermissionLevel, readonly ToolCategory[]>> = {
  'read-only': ['read'],
  edit: ['read', 'edit', 'mcp'],
  full: ['read', 'edit', 'execute', 'mcp', 'other'],
}

const CATEGORIES: readonly ToolCategory[] = ['read', 'edit', 'execute', 'mcp', 'other']

/** The rules for a CLI that cannot ask: `ask` becomes `deny`. */
export interface RulesInForce {
  readonly categories: Readonly<Record<ToolCategory, Standing>>
  readonly tools: ReadonlyMap<string, 'allow' | 'deny'>
  /** Patterns that deny. Patterns that allow are not carried over: the rule for the whole tool applies. */
  readonly forbidden: readonly PatternRule[]
  /** The rules that ask, as text for a warning. */
  readonly asks: readonly string[]
}

export interface ShellOfAgent {
  /** True if a sandbox keeps commands from writing where editing is denied. */
  readonly isConfined: boolean
}

export function standingRules(
  rules: PermissionRules,
  level: PermissionLevel,
  shell: ShellOfAgent = { isConfined: false },
): RulesInForce {
  const asks: string[] = []
  const settle = (policy: Policy, name: string): 'allow' | 'deny' => {
    if (policy === 'ask') asks.push(name)
    return policy === 'allow' ? 'allow' : 'deny'
  }
  const standing = (category: ToolCategory): Standing => {
    const policy = rules.categories[category]
    if (policy !== undefined) return settle(policy, `ask for every ${category} tool`)
    return GRANTED[level].includes(category) ? 'allow' : 'withheld'
  }
  const categories = Object.fromEntries(CATEGORIES.map((category) => [category, standing(category)]))
  const tools = new Map(
    Object.entries(rules.tools).map(([tool, policy]) => [tool, settle(policy, `ask for ${tool}`)] as const),
  )
  const forbidden = rules.patterns.filter((rule) => settle(rule.policy, ruleName(rule)) === 'deny')
  if (categories['edit'] === 'deny' && !shell.isConfined) {
    // A command may write files unnoticed. Under a deny of editing we would have to ask about it, and nobody can be asked.
    const shells = [...tools].flatMap(([tool, policy]) =>
      policy === 'allow' && kindOfTool(tool) === 'shell' ? [tool] : [],
    )
    if (categories['execute'] === 'allow' || shells.length > 0) asks.push('ask for commands that may change files')
    if (categories['execute'] === 'allow') categories['execute'] = 'deny'
    for (const tool of shells) tools.set(tool, 'deny')
  }
  return { categories: categories as Record<ToolCategory, Standing>, tools, forbidden, asks }
}

export function ruleName({ policy, tool, pattern }: PatternRule): string {
  return `${policy} ${tool} where it matches "${pattern}"`
}

/** Returns the warning that rules that ask deny instead, because nobody can be asked. */
export function askWarnings({ asks }: RulesInForce, title: string): readonly RunWarning[] {
  if (asks.length === 0) return []
  const message = `Nobody can be asked while ${title} runs, so this is denied: ${asks.join('; ')}.`
  return [{ message, code: 'rule-asks' }]
}

/** Throws for rules that the CLI cannot follow; with `allowUngoverned` returns a warning instead. */
export function refuseUnkept(
  request: Pick<LaunchRequest, 'allowUngoverned'>,
  title: string,
  rules: readonly string[],
  why: string,
): readonly RunWarning[] {
  if (rules.length === 0) return []
  const message = `${title} cannot keep these rules: ${rules.join('; ')}. ${why}`
  if (request.allowUngoverned) return [{ message, code: 'policy-unsupported' }]
  throw new InspanError('policy-unsupported', message, {
    hint: 'Change the rules, choose an agent that can keep them, or set allowUngoverned if something else confines it.',
    details: { rules: [...rules] },
  })
}
