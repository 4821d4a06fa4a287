import type { PermissionRules, ToolCategory } from '@evener/protocol'
import { withKnownTools } from './known-tools.ts'
import type { ToolSubjects } from './policy-types.ts'
import { compileRule } from './rule-book.ts'

export interface NativeShellDeny {
  readonly tool: string
  readonly pattern: string
  readonly program: string
  /** The words behind the program. A deny holds whatever follows them. */
  readonly words: readonly string[]
}

/** The denies of a set of rules, for programs that have rules of their own: a floor below what we decide ourselves. */
export interface NativeDenies {
  readonly tools: readonly string[]
  readonly categories: readonly ToolCategory[]
  readonly shell: readonly NativeShellDeny[]
  readonly paths: readonly {
    readonly tool: string
    readonly pattern: string
    readonly category: ToolCategory | null
  }[]
  /** Denies whose pattern is about nothing known here: who cannot enforce them must not start under them. */
  readonly others: readonly { readonly tool: string; readonly pattern: string }[]
}

export function nativeDenies(rules: PermissionRules, given: ToolSubjects = {}): NativeDenies {
  const subjects = withKnownTools(given)
  const denied = rules.patterns.filter(({ policy }) => policy === 'deny').map((rule) => compileRule(rule, subjects))
  const categories = Object.keys(rules.categories) as ToolCategory[]
  return {
    tools: Object.keys(rules.tools).filter((tool) => rules.tools[tool] === 'deny'),
    categories: categories.filter((category) => rules.categories[category] === 'deny'),
    shell: denied.flatMap((compiled) => {
      if (compiled.kind !== 'shell') return []
      const { program, source, words } = compiled.pattern
      return [
        { tool: compiled.rule.tool, pattern: source, program: program.text, words: words.map(({ text }) => text) },
      ]
    }),
    paths: denied.flatMap((compiled) => {
      if (compiled.kind !== 'path') return []
      return [{ tool: compiled.rule.tool, pattern: compiled.rule.pattern, category: compiled.category }]
    }),
    others: denied
      .filter(({ kind }) => kind === 'unusable')
      .map(({ rule }) => ({ tool: rule.tool, pattern: rule.pattern })),
  }
}
