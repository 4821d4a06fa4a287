import type { ToolCategory } from '@inspan/protocol'
import type { ToolCallRequest } from '@inspan/protocol/driver'
import type { CallSubject } from './call-subject.ts'
import { categoryRule } from './fallback.ts'
import { judgeCommand } from './judge-command.ts'
import { judgePaths } from './judge-paths.ts'
import { finding, piece, type Finding, type Judgement } from './judgement.ts'
import { START, type Whereabouts, locate } from '@inspan/shell/judge'
import { judgeNamedPaths } from './named-paths.ts'
import type { PolicyOptions } from './policy-types.ts'
import type { PlacedRule, PlacedRules } from './rule-book.ts'

export interface InForce {
  readonly levels: readonly PlacedRules[]
  readonly categories: readonly ToolCategory[]
  readonly rules: readonly PlacedRule[]
}

/** Judges a call by the rules with patterns. */
export function judge(
  call: ToolCallRequest,
  subject: CallSubject,
  inForce: InForce,
  options: PolicyOptions,
): Judgement {
  const judged = judgeSubject(call, subject, inForce, options)
  const broken = inForce.rules.find(
    ({ kind, rule }) => kind === 'unusable' && rule.tool === call.toolName && rule.policy !== 'allow',
  )
  if (judged.doubtful !== null || broken === undefined) return judged
  return { ...judged, doubtful: finding(broken, call.toolName) }
}

function judgeSubject(
  call: ToolCallRequest,
  subject: CallSubject,
  { categories, levels, rules }: InForce,
  options: PolicyOptions,
): Judgement {
  const { cwd, toolName } = call
  switch (subject.kind) {
    case 'command': {
      const where = whereabouts(options, cwd, subject.cwd)
      return judgeCommand({ text: subject.text, toolName, where, noEdits: noEdits(levels) }, rules)
    }
    case 'paths': {
      const { isTree, paths } = subject
      return judgePaths({ paths, isTree, toolName, categories, where: whereabouts(options, cwd) }, rules)
    }
    case 'unreadable': {
      const deny = rules.find(({ kind, rule }) => kind !== 'unusable' && rule.policy === 'deny')
      const doubtful = deny === undefined ? null : finding(deny, toolName)
      return { denied: null, doubtful, pieces: [piece(toolName, { obscure: subject.reason })] }
    }
    case 'none':
      return judgeNamedPaths(call, categories, rules, whereabouts(options, cwd))
  }
}

function noEdits(levels: readonly PlacedRules[]): Omit<Finding, 'part'> | null {
  const edit = categoryRule(levels, 'edit')
  if (edit?.policy !== 'deny' || edit.level === undefined || edit.rule === undefined) return null
  return { level: edit.level, rule: edit.rule, about: { category: 'edit' } }
}

/** `chosen`: the folder that the call itself names. A call cannot choose the project folder (`root`). */
export function whereabouts({ cwd, home }: PolicyOptions, callCwd?: string, chosen = '.'): Whereabouts {
  const homeFolder = home === undefined ? null : locate(home, START, null)
  const root = locate(cwd ?? callCwd ?? '.', START, homeFolder)
  const stands = callCwd === undefined ? root : locate(callCwd, root, homeFolder)
  return { root, start: locate(chosen, stands, homeFolder), home: homeFolder }
}
