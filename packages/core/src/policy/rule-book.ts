import type { PatternRule, PermissionRules, ToolCategory } from '@inspan/protocol'
import { type PathPattern, type ShellPattern, parsePathPattern, parseShellPattern } from '@inspan/shell/judge'
import type { PolicyContext, RuleLevel, ToolSubjects } from './policy-types.ts'

export type CompiledRule = { readonly rule: PatternRule } & (
  | { readonly kind: 'shell'; readonly pattern: ShellPattern }
  | { readonly kind: 'path'; readonly pattern: PathPattern; readonly category: ToolCategory | null }
  | { readonly kind: 'unusable'; readonly reason: string }
)

/** A rule in force, and where it was set. */
export type PlacedRule = CompiledRule & { readonly level: RuleLevel }

export interface PlacedRules {
  readonly level: RuleLevel
  readonly rules: PermissionRules
}

/** Returns the rules of all levels, nearest first. */
export function levelsOf(harness: PermissionRules, context: PolicyContext): PlacedRules[] {
  const { alone, thread, session, run } = context
  if (alone !== undefined) return [{ level: 'run', rules: alone }]
  const stated = { thread, session, harness, run: run && onlyDenies(run) }
  return Object.entries(stated).flatMap(([level, rules]) =>
    rules === undefined ? [] : [{ level: level as RuleLevel, rules }],
  )
}

export function onlyDenies({ categories, tools, patterns }: PermissionRules): PermissionRules {
  return {
    categories: Object.fromEntries(Object.entries(categories).filter(([, policy]) => policy === 'deny')),
    tools: Object.fromEntries(Object.entries(tools).filter(([, policy]) => policy === 'deny')),
    patterns: patterns.filter((rule) => rule.policy === 'deny'),
  }
}

/** Compiles the patterns of rules, each once. */
export class RuleBook {
  readonly #subjects: ToolSubjects
  readonly #compiled = new WeakMap<PatternRule, CompiledRule>()

  constructor(subjects: ToolSubjects) {
    this.#subjects = subjects
  }

  patterns(levels: readonly PlacedRules[]): PlacedRule[] {
    return levels.flatMap(({ level, rules }) => rules.patterns.map((rule) => ({ ...this.#compile(rule), level })))
  }

  #compile(rule: PatternRule): CompiledRule {
    const known = this.#compiled.get(rule)
    if (known !== undefined) return known
    const compiled = compileRule(rule, this.#subjects)
    this.#compiled.set(rule, compiled)
    return compiled
  }
}

export function compileRule(rule: PatternRule, subjects: ToolSubjects): CompiledRule {
  if (has(subjects.shellTools, rule.tool)) {
    const parsed = parseShellPattern(rule.pattern)
    return parsed.ok
      ? { rule, kind: 'shell', pattern: parsed.pattern }
      : { rule, kind: 'unusable', reason: parsed.reason }
  }
  if (has(subjects.pathTools, rule.tool)) {
    const parsed = parsePathPattern(rule.pattern)
    if (!parsed.ok) return { rule, kind: 'unusable', reason: parsed.reason }
    return { rule, kind: 'path', pattern: parsed.pattern, category: subjects.toolCategory?.(rule.tool) ?? null }
  }
  return { rule, kind: 'unusable', reason: `nothing is known of what patterns for "${rule.tool}" are about` }
}

export function has(tools: { readonly [toolName: string]: unknown } | undefined, toolName: string): boolean {
  return tools !== undefined && Object.hasOwn(tools, toolName)
}

export function ruleName({ tool, pattern, policy }: PatternRule): string {
  return `${policy} ${tool}(${pattern})`
}
