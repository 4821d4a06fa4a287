import type { Decision, Grants, PermissionRules, ToolCallRequest, ToolCategory, WaitDecision } from '@evener/protocol'

/** Where a shell tool has its command: the name of the argument, and of the one that names the folder if it has one. */
export type ShellTool = string | { readonly command: string; readonly cwd?: string }

/** Where a tool has its paths. With `tree` it looks at everything below them. */
export type PathTool = string | { readonly paths: readonly string[]; readonly reach?: 'file' | 'tree' }

/** What the patterns of a tool are about. */
export interface ToolSubjects {
  readonly shellTools?: { readonly [toolName: string]: ShellTool }
  readonly pathTools?: { readonly [toolName: string]: PathTool }
  readonly toolCategory?: (toolName: string) => ToolCategory | null
}

export interface PolicyOptions extends ToolSubjects {
  /** The rules of the whole harness. */
  readonly rules?: PermissionRules
  /** The project: relative path patterns are about it, and allowed commands are allowed in it. */
  readonly cwd?: string
  readonly home?: string
}

/** Where a rule was set. Of a run only the denies it was started under count. */
export type RuleLevel = 'thread' | 'session' | 'harness' | 'run'

/** What is in force when a call is judged. */
export interface PolicyContext {
  readonly session?: PermissionRules
  readonly thread?: PermissionRules
  readonly run?: PermissionRules
  /** Judged under these and no others: those in force when the run was started. */
  readonly alone?: PermissionRules
  readonly grants?: Grants
  readonly yolo?: boolean
  /** The hash of this very call, and the answer somebody gave; an answer to another hash counts for nothing. */
  readonly hash?: string
  readonly answered?: { readonly hash: string; readonly decision: WaitDecision; readonly reason?: string }
  /** The same call was interrupted before, and nobody knows whether it had its effect. */
  readonly inDoubt?: boolean
  /** The tool is not what it was when it was allowed. */
  readonly definitionChanged?: boolean
}

/** In the order in which they are asked. */
export type PolicyStep =
  | 'deny'
  | 'answer'
  | 'unreadable'
  | 'yolo'
  | 'in-doubt'
  | 'definition'
  | 'pattern'
  | 'tool'
  | 'grant'
  | 'category'
  | 'default'

/** A decision and where it comes from. `reason` says it in one sentence. */
export interface Explained extends Decision {
  readonly step: PolicyStep
  readonly level?: RuleLevel
  /** The part of a command, or the path, that decided. */
  readonly part?: string
}

export type GrantResult =
  | { readonly granted: true; readonly grants: Grants }
  | { readonly granted: false; readonly reason: string }

export interface PermissionPolicy {
  /** Never throws, keeps nothing. */
  decide(call: ToolCallRequest, context: PolicyContext): Explained
  /** The grants after somebody said "always"; refused where the rules want to be asked. */
  grant(call: ToolCallRequest, scope: 'tool' | 'category', context: PolicyContext): GrantResult
  /** Throws when rules of a session, thread or run say nothing, or not what their examples say, about the tools it knows. */
  check(rules: PermissionRules): void
  /** What is in force, as one set of rules: recorded with every run. */
  rulesInForce(context: PolicyContext): PermissionRules
}
