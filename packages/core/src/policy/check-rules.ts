import { InspanError, type PatternRule, type PermissionRules } from '@inspan/protocol'
import { judgeCommand } from './judge-command.ts'
import { judgePaths } from './judge-paths.ts'
import type { Judgement } from './judgement.ts'
import { whereabouts } from './judge.ts'
import { withKnownTools } from './known-tools.ts'
import type { PolicyOptions } from './policy-types.ts'
import { compileRule, ruleName, type PlacedRule } from './rule-book.ts'
import { checkShape } from './rule-shape.ts'

const POLICIES = new Set<unknown>(['allow', 'ask', 'deny'])
const CATEGORIES = ['read', 'edit', 'execute', 'mcp', 'other']

const NAME_TOOLS = `Name each tool, or say it of a category: ${CATEGORIES.join(', ')}.`
/** How other programs write a rule with a pattern. */
const NAME_WITH_PATTERN = /^[\w-]+\(.*\)$/s

/**
 * Refuses rules that have no effect, or do not do what their examples say: a rule that silently never matches is worse
 * than none. Throws an error that names the rule and the example.
 */
export function checkRules(rules: PermissionRules, given: PolicyOptions = {}): void {
  const options: PolicyOptions = { ...given, ...withKnownTools(given) }
  checkShape(rules)
  for (const [category, policy] of Object.entries(rules.categories)) {
    if (!CATEGORIES.includes(category)) {
      throw invalid(`category ${category}`, 'there is no such category', `There are ${CATEGORIES.join(', ')}.`)
    }
    if (!POLICIES.has(policy)) throw invalid(`category ${category}`, notAPolicy(policy))
  }
  for (const [tool, policy] of Object.entries(rules.tools)) {
    if (!POLICIES.has(policy)) throw invalid(tool, notAPolicy(policy))
    if (NAME_WITH_PATTERN.test(tool)) throw invalid(tool, 'it is no name of a tool', 'Write it as one of `patterns`.')
    if (tool.includes('*')) throw invalid(tool, 'a star stands for nothing in the name of a tool', NAME_TOOLS)
  }
  for (const rule of rules.patterns) checkPattern(rule, options)
}

function notAPolicy(policy: unknown): string {
  return `${JSON.stringify(policy)} is none of allow, ask and deny`
}

function checkPattern(rule: PatternRule, options: PolicyOptions): void {
  const name = ruleName(rule)
  if (!POLICIES.has(rule.policy)) throw invalid(name, notAPolicy(rule.policy))
  const compiled = compileRule(rule, options)
  if (compiled.kind === 'unusable') throw invalid(name, compiled.reason, hintFor(rule, options))
  const placed: PlacedRule = { ...compiled, level: 'harness' }
  for (const example of rule.match ?? []) {
    if (applies(placed, example, options) !== 'yes') throw disproved(name, example, 'does not match')
  }
  for (const example of rule.notMatch ?? []) {
    const found = applies(placed, example, options)
    if (found !== 'no') throw disproved(name, example, found === 'yes' ? 'matches' : 'may match')
  }
}

/** Returns whether a rule alone decides an example: denies it, asks about it, or allows all of it. */
function applies(rule: PlacedRule, example: string, options: PolicyOptions): 'yes' | 'maybe' | 'no' {
  const where = whereabouts(options)
  const toolName = rule.rule.tool
  const judgement: Judgement =
    rule.kind === 'shell'
      ? judgeCommand({ text: example, toolName, where, noEdits: null }, [rule])
      : judgePaths({ paths: [example], isTree: false, toolName, categories: [], where }, [rule])
  const { denied, doubtful, pieces } = judgement
  switch (rule.rule.policy) {
    case 'deny':
      return denied !== null ? 'yes' : doubtful !== null ? 'maybe' : 'no'
    case 'ask':
      return pieces.some(({ ask }) => ask !== null) ? 'yes' : 'no'
    case 'allow':
      return pieces.every(({ allow, obscure }) => allow !== null && obscure === null) ? 'yes' : 'no'
  }
}

function hintFor({ tool }: PatternRule, { pathTools = {}, shellTools = {} }: PolicyOptions): string | undefined {
  const known = [...Object.keys(shellTools), ...Object.keys(pathTools)]
  if (known.includes(tool)) return undefined
  return `Patterns are for ${known.join(', ')}; other tools are named in \`shellTools\` or \`pathTools\`.`
}

function invalid(rule: string, reason: string, hint?: string): InspanError {
  return new InspanError('invalid-input', `The rule "${rule}" is not valid: ${reason}.`, {
    ...(hint === undefined ? {} : { hint }),
    details: { rule, reason },
  })
}

function disproved(rule: string, example: string, how: string): InspanError {
  const expected = how === 'does not match' ? 'match' : 'notMatch'
  return new InspanError('invalid-input', `The rule "${rule}" ${how} its example "${example}".`, {
    hint: `Change the pattern, or take the example out of \`${expected}\`.`,
    details: { rule, example, expected },
  })
}
