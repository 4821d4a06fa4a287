import { NO_RULES, type PermissionRules, type ToolCategory } from '@inspan/protocol'
import type { ToolCallRequest } from '@inspan/protocol/driver'
import { aFunction, anObject, anything, checkOptions, words, type OptionRules } from '@inspan/protocol/internal'
import { subjectOf } from './call-subject.ts'
import { checkRules } from './check-rules.ts'
import { decide, grant, type Case } from './decide.ts'
import { effectiveRules } from './effective-rules.ts'
import { judge } from './judge.ts'
import { withKnownTools } from './known-tools.ts'
import type { PermissionPolicy, PolicyContext, PolicyOptions } from './policy-types.ts'
import { levelsOf, RuleBook } from './rule-book.ts'

const OPTIONS: OptionRules<PolicyOptions> = {
  rules: anything,
  shellTools: anObject,
  pathTools: anObject,
  toolCategory: aFunction,
  cwd: words,
  home: words,
}

/**
 * Compiles the rules of a harness into a policy that judges calls. Throws only here, when the rules are not valid. A
 * decision follows from the call and the context alone.
 */
export function createPolicy(given: PolicyOptions = {}): PermissionPolicy {
  checkOptions('a policy', given, OPTIONS)
  const options: PolicyOptions = { ...given, ...withKnownTools(given) }
  const harness = wholeRules(options.rules)
  checkRules(harness, options)
  const book = new RuleBook(options)

  function look(call: ToolCallRequest, context: PolicyContext): Case {
    const levels = levelsOf(harness, context)
    const categories = categoriesOf(call, call.serverName === undefined ? options : given)
    const judgement = judge(
      call,
      subjectOf(call, options),
      { levels, categories, rules: book.patterns(levels) },
      options,
    )
    return { call, context, levels, categories, judgement }
  }

  return {
    decide: (call, context) => decide(look(call, context)),
    grant: (call, scope, context) => grant(look(call, context), scope),
    check: (rules) => checkRules(rules, options),
    rulesInForce: (context): PermissionRules => effectiveRules({ ...context, harness }),
  }
}

/** Adds the kinds that were left out. What is no set of rules at all is left to the check. */
function wholeRules(rules: Partial<PermissionRules> = NO_RULES): PermissionRules {
  const isObject = typeof rules === 'object' && rules !== null && !Array.isArray(rules)
  return isObject ? { ...NO_RULES, ...rules } : (rules as PermissionRules)
}

/** The known categories of our own tools do not hold for a server's tool of the same name. */
function categoriesOf(call: ToolCallRequest, { toolCategory }: PolicyOptions): ToolCategory[] {
  const said = [toolCategory?.(call.toolName) ?? null, call.category ?? null].filter((category) => category !== null)
  if (said.length > 0) return [...new Set(said)]
  return call.serverName === undefined ? [] : ['mcp']
}
