import type { JsonObject, JsonValue } from '@inspan/protocol'
import type { ActivityDraft } from './activity.ts'

interface ToolUse {
  /** The tool's name as the CLI wrote it. */
  readonly name: string
  readonly input: JsonObject
}

/** How a call ended, as far as the CLI reports it. */
export interface ReportedOutcome {
  /** Absent: not reported. */
  readonly isSuccess?: boolean | undefined
  readonly exitCode?: number | undefined
  /** The call was refused or never ended, so no operation in it succeeded. */
  readonly isUndone?: boolean | undefined
  /** What the CLI adds to the result for its own use (paths, ranges, ids). */
  readonly detail?: JsonValue | undefined
  /** The result itself. A rule may look at it but must not repeat it. */
  readonly result?: JsonValue | undefined
}

/** What a rule can use besides the call. */
export interface MappingContext {
  readonly cwd: string | undefined
  /** Returns an absolute path if it can be determined. */
  path(path: string): string
  /**
   * Returns a shell command as `command`, or as the file operations that it consists of. `workingDirectory`: where it
   * ran, if that is reported; `null` if it may have run anywhere, so that relative paths stay as they are.
   */
  command(command: string, outcome: ReportedOutcome, workingDirectory?: string | null): readonly ActivityDraft[]
}

/** Says that the call is bookkeeping of the CLI, with the reason to consume it with. */
export interface ConsumedCall {
  readonly consumed: string
}

/**
 * Returns a call as activity. An empty list means that the input does not tell, so the call is `unknown`. Inputs come
 * from models and results from CLIs: every field may be missing or of another type.
 */
export type ToolRule = (
  use: ToolUse,
  outcome: ReportedOutcome,
  context: MappingContext,
) => readonly ActivityDraft[] | ConsumedCall

export interface ToolTable {
  rule(name: string): ToolRule | undefined
}

export interface ToolTableOptions {
  /** Ignores case when names are matched. */
  readonly ignoreCase?: boolean
  /** Returns the name to look up if the whole name is not in the table, e.g. without an extension's prefix. */
  readonly strip?: (name: string) => string
}

export function toolTable(rules: Readonly<Record<string, ToolRule>>, options: ToolTableOptions = {}): ToolTable {
  const { ignoreCase = false, strip } = options
  if (!ignoreCase && strip === undefined) {
    const byExactName = new Map(Object.entries(rules))
    return { rule: (name) => byExactName.get(name) }
  }
  const fold = (name: string): string => (ignoreCase ? name.toLowerCase() : name)
  const byName = new Map(Object.entries(rules).map(([name, rule]) => [fold(name), rule]))
  return {
    rule: (name) => byName.get(fold(name)) ?? (strip === undefined ? undefined : byName.get(fold(strip(name)))),
  }
}

/** Returns a table with the tools of both, for CLIs that add tools to those of another. */
export function extendTable(base: ToolTable, more: ToolTable): ToolTable {
  return { rule: (name) => more.rule(name) ?? base.rule(name) }
}

/** Returns a rule for bookkeeping tools. */
export function consumeCall(reason: string): ToolRule {
  const consumed: ConsumedCall = Object.freeze({ consumed: reason })
  return () => consumed
}

export function isConsumed(made: readonly ActivityDraft[] | ConsumedCall): made is ConsumedCall {
  return !Array.isArray(made)
}

/** Returns the draft fields that say how an operation ended. */
export function success(outcome: ReportedOutcome): { readonly isSuccess?: boolean } {
  return outcome.isSuccess === undefined ? {} : { isSuccess: outcome.isSuccess }
}

/** Returns an inclusive range from a first line and a number of lines. */
export function lineRange(
  start: number | undefined,
  count: number | undefined,
): { readonly startLine?: number; readonly endLine?: number } {
  if (start === undefined && count === undefined) return {}
  const startLine = start === undefined ? 1 : Math.max(1, start)
  return count === undefined || count < 1 ? { startLine } : { startLine, endLine: startLine + count - 1 }
}
