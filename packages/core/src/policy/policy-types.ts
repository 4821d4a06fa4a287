import type { Grants, PermissionRules, ToolCategory, WaitDecision } from '@inspan/protocol'
import type { Decision, ToolCallRequest } from '@inspan/protocol/driver'

/** The argument of a shell tool that contains its command, and the one that names the folder, if there is one. */
export type ShellTool = string | { readonly command: string; readonly cwd?: string }

/** The arguments of a tool that contain its paths. With `tree` the tool looks at everything below them. */
export type PathTool = string | { readonly paths: readonly string[]; readonly reach?: 'file' | 'tree' }

/** What patterns for a tool are matched against. */
export interface ToolSubjects {
  /** The tools that run shell commands, with the argument that holds the command. Default: well-known ones, such as `execute_command`. */
  readonly shellTools?: { readonly [toolName: string]: ShellTool }
  /** The tools that work on files, with the arguments that hold paths. Default: well-known ones, such as `read_file`. */
  readonly pathTools?: { readonly [toolName: string]: PathTool }
  /** Returns the category of a tool, in addition to the one that it declares. Default: those of well-known tools. */
  readonly toolCategory?: (toolName: string) => ToolCategory | null
}

export interface PolicyOptions extends ToolSubjects {
  /** The rules of the whole harness, as its `permissions` takes them. */
  readonly rules?: Partial<PermissionRules>
  /** The project folder: relative path patterns start from it, and commands are allowed in it. */
  readonly cwd?: string
  /** The user's home, for `~`. */
  readonly home?: string
}

/** Where a rule was set. Of a run, only the denies it was started under count. */
export type RuleLevel = 'thread' | 'session' | 'harness' | 'run'

/** What is in force when a call is judged. */
export interface PolicyContext {
  readonly session?: PermissionRules
  readonly thread?: PermissionRules
  readonly run?: PermissionRules
  /** Judge by these rules and no others: those in force when the run was started. */
  readonly alone?: PermissionRules
  readonly grants?: Grants
  readonly yolo?: boolean
  /** The hash of this very call. An answer to a call with another hash does not count. */
  readonly hash?: string
  readonly answered?: { readonly hash: string; readonly decision: WaitDecision; readonly reason?: string }
  /** The same call was interrupted before, and nobody knows whether it had its effect. */
  readonly inDoubt?: boolean
  /** The definition of the tool has changed since it was allowed. */
  readonly definitionChanged?: boolean
}

/** In the order in which they are tried. */
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

/** A decision and where it comes from. `reason` explains it in one sentence. */
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
  /** Decides about a call. Never throws and keeps no state. */
  decide(call: ToolCallRequest, context: PolicyContext): Explained
  /** Returns the grants after somebody said "always"; refused where the rules want to ask. */
  grant(call: ToolCallRequest, scope: 'tool' | 'category', context: PolicyContext): GrantResult
  /**
   * Throws when rules of a session, thread or run have no effect on the known tools, or not the one their examples
   * state.
   */
  check(rules: PermissionRules): void
  /** Returns the rules in force as one set; recorded with every run. */
  rulesInForce(context: PolicyContext): PermissionRules
}
