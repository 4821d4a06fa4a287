import type { PatternRule, PermissionRules, Policy, ToolCategory } from '@inspan/protocol'
import { isStricter } from './strictness.ts'

type CategoryOf = (toolName: string) => ToolCategory | null

/**
 * Returns the rules of a child: a subagent, a fork, a mode. A child is never allowed more than its parent: denies are
 * united, and an allow stays only where both agree. Where the child says nothing, the parent's rule holds. Where the
 * rules alone cannot tell whether both agree, the child asks.
 */
export function mergeRules(
  parent: PermissionRules,
  child: PermissionRules,
  toolCategory?: CategoryOf,
): PermissionRules {
  return {
    categories: mergeCategories(parent, child),
    tools: mergeTools(parent, child, toolCategory),
    patterns: mergePatterns(parent, child, toolCategory),
  }
}

function own<T>(record: { readonly [key: string]: T | undefined }, key: string): T | undefined {
  return Object.hasOwn(record, key) ? record[key] : undefined
}

function stricter(a: Policy, b: Policy): Policy {
  return isStricter(b, a) ? b : a
}

function keysOf(...records: readonly object[]): string[] {
  return [...new Set(records.flatMap((record) => Object.keys(record)))]
}

function fromEntries(entries: readonly (readonly [string, Policy | undefined])[]): { [key: string]: Policy } {
  return Object.fromEntries(entries.filter((entry): entry is [string, Policy] => entry[1] !== undefined))
}

function mergeCategories(parent: PermissionRules, child: PermissionRules): { [key: string]: Policy } {
  return fromEntries(
    keysOf(parent.categories, child.categories).map((category) => {
      const above = own(parent.categories, category)
      const below = own(child.categories, category)
      if (above === undefined) return [category, below === 'allow' ? undefined : below]
      return [category, below === undefined ? above : stricter(above, below)]
    }),
  )
}

function mergeTools(
  parent: PermissionRules,
  child: PermissionRules,
  toolCategory: CategoryOf | undefined,
): { [key: string]: Policy } {
  return fromEntries(
    keysOf(parent.tools, child.tools).map((tool) => {
      const above = own(parent.tools, tool)
      const below = own(child.tools, tool)
      if (above !== undefined && below !== undefined) return [tool, stricter(above, below)]
      if (below !== undefined) {
        const isAgreed = below !== 'allow' || allowsByCategory(parent, tool, toolCategory)
        return [tool, isAgreed ? below : undefined]
      }
      const isDisputed = above === 'allow' && mayAskByCategory(child, tool, toolCategory)
      return [tool, isDisputed ? 'ask' : above]
    }),
  )
}

function byCategory(rules: PermissionRules, tool: string, toolCategory: CategoryOf | undefined): Policy | undefined {
  const category = toolCategory?.(tool) ?? null
  return category === null ? undefined : own(rules.categories, category)
}

/**
 * True when the category allows the tool. A rule for a shell tool also lets it write files, so `execute` alone is not
 * enough.
 */
function allowsByCategory(rules: PermissionRules, tool: string, toolCategory: CategoryOf | undefined): boolean {
  if (byCategory(rules, tool, toolCategory) !== 'allow') return false
  return toolCategory?.(tool) !== 'execute' || own(rules.categories, 'edit') === 'allow'
}

/**
 * True when a category may ask about the tool. Without known categories any of them may be the tool's. Commands also
 * write files.
 */
function mayAskByCategory(rules: PermissionRules, tool: string, toolCategory: CategoryOf | undefined): boolean {
  if (toolCategory === undefined) return Object.values(rules.categories).includes('ask')
  if (byCategory(rules, tool, toolCategory) === 'ask') return true
  return toolCategory(tool) === 'execute' && own(rules.categories, 'edit') === 'ask'
}

function mergePatterns(
  parent: PermissionRules,
  child: PermissionRules,
  toolCategory: CategoryOf | undefined,
): PatternRule[] {
  const strict = [...parent.patterns, ...child.patterns].filter(({ policy }) => policy !== 'allow')
  const above = parent.patterns.filter(({ policy }) => policy === 'allow')
  const below = child.patterns.filter(({ policy }) => policy === 'allow')
  return [
    ...strict,
    ...above.filter((rule) => isListed(rule, below) || !mayAskAbout(rule.tool, child, toolCategory)),
    ...below.filter((rule) => !isListed(rule, above) && allowsAll(rule.tool, parent, toolCategory)),
  ]
}

function isListed({ pattern, tool }: PatternRule, rules: readonly PatternRule[]): boolean {
  return rules.some((rule) => rule.tool === tool && rule.pattern === pattern)
}

/**
 * True when the child may want to ask where the parent's pattern allows. An allow to write files also counts for
 * commands.
 */
function mayAskAbout(tool: string, child: PermissionRules, toolCategory: CategoryOf | undefined): boolean {
  if (asksAboutWriters(tool, child, toolCategory)) return true
  if (own(child.tools, tool) === 'ask' || mayAskByCategory(child, tool, toolCategory)) return true
  if (toolCategory?.(tool) !== 'edit' && toolCategory !== undefined) return false
  return Object.values(child.tools).includes('ask') || Object.values(child.categories).includes('ask')
}

/** Where editing is denied, commands that may write ask unless a pattern of the same rules allows them. */
function asksAboutWriters(tool: string, rules: PermissionRules, toolCategory: CategoryOf | undefined): boolean {
  const mayBeShell = toolCategory === undefined || toolCategory(tool) === 'execute'
  return mayBeShell && own(rules.categories, 'edit') === 'deny'
}

function allowsAll(tool: string, parent: PermissionRules, toolCategory: CategoryOf | undefined): boolean {
  if (toolCategory?.(tool) !== 'execute' || asksAboutWriters(tool, parent, toolCategory)) return false
  return (own(parent.tools, tool) ?? byCategory(parent, tool, toolCategory)) === 'allow'
}
