export type ToolCategory = 'read' | 'edit' | 'execute' | 'mcp' | 'other'

export type Policy = 'allow' | 'ask' | 'deny'

export interface PatternRule {
  readonly tool: string
  /** The tool decides what the pattern is matched against: a command, a path, an address. */
  readonly pattern: string
  readonly policy: Policy
  /** Examples that must (not) match; checked when the rule is loaded. */
  readonly match?: readonly string[]
  readonly notMatch?: readonly string[]
}

export interface PermissionRules {
  readonly categories: { readonly [category in ToolCategory]?: Policy }
  readonly tools: { readonly [toolName: string]: Policy }
  readonly patterns: readonly PatternRule[]
}

export interface Grants {
  readonly categories: readonly ToolCategory[]
  readonly tools: readonly string[]
}

/** Where a grant counts: in one thread, or in all threads of its resource, such as a project folder. */
export type GrantScope = 'thread' | 'resource'

export const NO_RULES: PermissionRules = Object.freeze({ categories: {}, tools: {}, patterns: [] })
export const NO_GRANTS: Grants = Object.freeze({ categories: [], tools: [] })
