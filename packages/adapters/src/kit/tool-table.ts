import type { JsonObject, JsonValue } from '@evener/protocol'
import type { ActivityDraft } from './activity.ts'

interface ToolUse {
  /** The name as the program wrote it. */
  readonly name: string
  readonly input: JsonObject
}

/** How a call ended, as far as the program says. */
export interface ToolOutcome {
  /** Absent: not reported. */
  readonly isSuccess?: boolean | undefined
  readonly exitCode?: number | undefined
  /** It was refused, or never ended: whatever it consists of, none of it has succeeded. */
  readonly isUndone?: boolean | undefined
  /** What the program adds to the result for its own use (paths, ranges, ids). */
  readonly detail?: JsonValue | undefined
  /** The result itself; a rule may look at it but must not repeat it. */
  readonly result?: JsonValue | undefined
}

/** What a rule may know besides the call. */
export interface ToolContext {
  readonly cwd: string | undefined
  /** An absolute path where it can be determined. */
  path(path: string): string
  /** A shell command as `command`, or as the file operations that it consists of. */
  command(command: string, outcome: ToolOutcome, workingDirectory?: string): readonly ActivityDraft[]
}

/** The call is the program's own bookkeeping. */
export interface ConsumedCall {
  readonly consumed: string
}

/**
 * What a call was, in activity events. An empty list: the input does not say, so the call is `unknown`.
 * Rules see inputs of models and results of programs: every field may be missing or of another type.
 */
export type ToolRule = (
  use: ToolUse,
  outcome: ToolOutcome,
  context: ToolContext,
) => readonly ActivityDraft[] | ConsumedCall

export interface ToolTable {
  rule(name: string): ToolRule | undefined
}

export interface ToolTableOptions {
  /** Names are matched whatever their case. */
  readonly ignoreCase?: boolean
  /** Gives the name to look up when the whole name is not in the table, e.g. without an extension's prefix. */
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

/** A table on top of another: for programs that add tools to somebody else's. */
export function extendTable(base: ToolTable, more: ToolTable): ToolTable {
  return { rule: (name) => more.rule(name) ?? base.rule(name) }
}

/** A rule for bookkeeping tools. */
export function consumeCall(reason: string): ToolRule {
  const consumed: ConsumedCall = Object.freeze({ consumed: reason })
  return () => consumed
}

export function isConsumed(made: readonly ActivityDraft[] | ConsumedCall): made is ConsumedCall {
  return !Array.isArray(made)
}

/** The fields that say how an operation ended, for a draft. */
export function success(outcome: ToolOutcome): { readonly isSuccess?: boolean } {
  return outcome.isSuccess === undefined ? {} : { isSuccess: outcome.isSuccess }
}

/** An inclusive range from a first line and a number of lines. */
export function lineRange(
  start: number | undefined,
  count: number | undefined,
): { readonly startLine?: number; readonly endLine?: number } {
  if (start === undefined && count === undefined) return {}
  const startLine = start === undefined ? 1 : Math.max(1, start)
  return count === undefined || count < 1 ? { startLine } : { startLine, endLine: startLine + count - 1 }
}
