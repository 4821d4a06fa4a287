import type { ToolCategory } from '@inspan/protocol'
import { strictFileRules } from './judge-files.ts'
import { finding, piece, type Finding, type Judgement } from './judgement.ts'
import { type Whereabouts, coversPath, pathReach } from '@inspan/shell/judge'
import type { PlacedRule } from './rule-book.ts'

export interface PathCall {
  readonly paths: readonly string[]
  readonly isTree: boolean
  readonly toolName: string
  readonly categories: readonly ToolCategory[]
  readonly where: Whereabouts
}

/** Judges each path in the arguments of a tool. */
export function judgePaths(call: PathCall, rules: readonly PlacedRule[]): Judgement {
  const { categories, isTree, paths, toolName, where } = call
  const isMeant = (rule: {
    readonly rule: { readonly tool: string }
    readonly category: ToolCategory | null
  }): boolean => rule.rule.tool === toolName || (rule.category !== null && categories.includes(rule.category))
  const denies = strictFileRules(rules, 'deny').filter(isMeant)
  const asks = strictFileRules(rules, 'ask').filter(isMeant)
  let denied: Finding | null = null
  let doubtful: Finding | null = null
  const pieces = paths.map((path) => {
    for (const rule of denies) {
      const reach = pathReach(rule.pattern, path, where, isTree)
      if (reach === 'yes') denied ??= finding(rule, path)
      if (reach === 'maybe') doubtful ??= finding(rule, path)
    }
    const ask = asks.find((rule) => pathReach(rule.pattern, path, where, isTree) !== 'no')
    const allow = rules.find(
      (rule) =>
        rule.kind === 'path' &&
        rule.rule.policy === 'allow' &&
        rule.rule.tool === toolName &&
        coversPath(rule.pattern, path, where),
    )
    return piece(path, {
      ask: ask === undefined ? null : finding(ask, path),
      allow: allow === undefined ? null : finding(allow, path),
    })
  })
  return { denied, doubtful, pieces }
}
