import type { JsonObject } from '@inspan/protocol'
import type { ActivityDraft } from '../kit/activity.ts'
import { asText, firstText, textList } from '../kit/fields.ts'
import {
  isConsumed,
  success,
  toolTable,
  type ConsumedCall,
  type MappingContext,
  type ReportedOutcome,
  type ToolRule,
  type ToolTable,
} from '../kit/tool-table.ts'
import { KIND_NAMES } from './habits.ts'
import type { AcpToolCall } from './tool-call.ts'

/** What the activity of a call is derived from. */
type CallFacts = Pick<AcpToolCall, 'kind' | 'input' | 'locations' | 'diffs'>

const BOOKKEEPING: ConsumedCall = Object.freeze({ consumed: 'bookkeeping' })

/** Rules for calls without a result, of tools whose kind alone is known: they use the input. */
export const kindTools: ToolTable = toolTable(
  Object.fromEntries(
    [...KIND_NAMES].map(([kind, name]): [string, ToolRule] => [
      name,
      ({ input }, outcome, context) => activityOfKind({ kind, input, locations: [], diffs: [] }, outcome, context),
    ]),
  ),
)

/**
 * Returns a call as activity: by the agent's own tool table if it has the tool, otherwise by the reported kind. An
 * empty list means that neither tells.
 */
export function callActivity(
  call: AcpToolCall,
  name: string,
  outcome: ReportedOutcome,
  context: MappingContext,
  tools: ToolTable | undefined,
): readonly ActivityDraft[] | ConsumedCall {
  const made = tools?.rule(name)?.({ name, input: call.input }, outcome, context) ?? []
  return isConsumed(made) || made.length > 0 ? made : activityOfKind(call, outcome, context)
}

function activityOfKind(
  call: CallFacts,
  outcome: ReportedOutcome,
  context: MappingContext,
): readonly ActivityDraft[] | ConsumedCall {
  const { kind, input } = call
  switch (kind) {
    case 'read':
      return reads(call, outcome, context)
    case 'edit':
    case 'delete':
    case 'move':
      return writes(pathsOf(call), outcome, context)
    case 'search':
      return search(input, outcome, context)
    case 'execute':
      // A list where a text is wanted, and no exit code: the call was rejected and nothing ran.
      if (Array.isArray(input['command']) && outcome.isSuccess === false && outcome.exitCode === undefined) return []
      return commandsOf(input).flatMap((command) => context.command(command, outcome))
    case 'think':
    case 'switch_mode':
      return BOOKKEEPING
    default:
      // Whatever the kind: a call that shows the new content of a file has written it.
      return writes(
        call.diffs.map(({ path }) => path),
        outcome,
        context,
      )
  }
}

function reads(call: CallFacts, outcome: ReportedOutcome, context: MappingContext): readonly ActivityDraft[] {
  const { locations } = call
  const places = locations.length > 0 ? locations : inputPaths(call.input).map((path) => ({ path, line: undefined }))
  return places.map(({ path, line }) => ({
    type: 'read',
    path: context.path(path),
    ...(line === undefined ? {} : { startLine: line }),
    ...success(outcome),
  }))
}

function writes(paths: readonly string[], outcome: ReportedOutcome, context: MappingContext): readonly ActivityDraft[] {
  const unique = [...new Set(paths.map((path) => context.path(path)))]
  return unique.map((path) => ({ type: 'write', path, ...success(outcome) }))
}

function search(input: JsonObject, outcome: ReportedOutcome, context: MappingContext): readonly ActivityDraft[] {
  const query = firstText(input, 'pattern', 'query', 'regex', 'glob')
  if (query === undefined) return []
  const path = inputPaths(input)[0]
  return [{ type: 'search', query, ...(path === undefined ? {} : { path: context.path(path) }), ...success(outcome) }]
}

/** Returns the commands of a call: one shell line, several of them, or a program with its arguments. */
export function commandsOf(input: JsonObject): readonly string[] {
  const { command, args, commands } = input
  if (Array.isArray(command)) return [textList(command).join(' ')].filter((line) => line !== '')
  const line = asText(command) ?? firstText(input, 'cmd', 'script')
  if (line === undefined) return textList(commands)
  return [[line, ...textList(args)].join(' ')]
}

/** Returns the files that a call is about, as far as it tells. */
export function pathsOf(call: CallFacts): readonly string[] {
  const { diffs, locations, input } = call
  const filePaths = [...diffs.map(({ path }) => path), ...locations.map(({ path }) => path)]
  return filePaths.length > 0 ? filePaths : inputPaths(input)
}

function inputPaths(input: JsonObject): readonly string[] {
  const path = firstText(input, 'path', 'file_path', 'filePath', 'abs_path')
  return path === undefined ? textList(input['paths']) : [path]
}
