import type { PatternRule, PermissionRules, Policy, ToolCategory } from '@inspan/protocol'

/** A command, the expected decision, and why. */
export type CorpusCase = readonly [command: string, verdict: Policy, why: string]

/** Commands under the same rules. */
export interface CorpusGroup {
  readonly title: string
  readonly allow?: readonly string[]
  readonly ask?: readonly string[]
  readonly deny?: readonly string[]
  /** The rule for the shell tool as a whole. */
  readonly tool?: Policy
  readonly categories?: { readonly [category in ToolCategory]?: Policy }
  /** Rules for `read_file` and `edit_file`. */
  readonly files?: readonly PatternRule[]
  readonly yolo?: boolean
  readonly cases: readonly CorpusCase[]
}

export function rulesOf({ allow, ask, categories, deny, files, tool }: CorpusGroup): PermissionRules {
  const patterns = (policy: Policy, list: readonly string[] = []): PatternRule[] =>
    list.map((pattern) => ({ tool: 'execute_command', pattern, policy }))
  return {
    categories: categories ?? {},
    tools: tool === undefined ? {} : { execute_command: tool },
    patterns: [...patterns('allow', allow), ...patterns('ask', ask), ...patterns('deny', deny), ...(files ?? [])],
  }
}
