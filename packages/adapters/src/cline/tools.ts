import type { JsonObject, JsonValue } from '@inspan/protocol'
import type { ActivityDraft } from '../kit/activity.ts'
import { commandDraft, listDraft, readDraft, searchDraft, skillDraft, writeDraft } from '../kit/drafts.ts'
import { asArray, asCount, asObject, asText, firstText, NO_FIELDS, textList } from '../kit/fields.ts'
import { writeRule } from '../kit/path-rules.ts'
import { patchFiles } from '../kit/patch-files.ts'
import { toolTable, type ReportedOutcome, type ToolRule, type ToolTable } from '../kit/tool-table.ts'
import { itemOutcome, subagentSuccess } from './outcome.ts'

/** The tool that starts a subagent and returns its report. */
export const SPAWN = 'spawn_agent'

const write = writeRule(pathOf)

/**
 * Rules for Cline's tools, under all names they have had. Commands stay commands, as Cline has tools of its own to
 * read, search and list. MCP tools, web tools, team tools, questions and all others are `unknown`.
 */
export const clineTools: ToolTable = toolTable({
  run_commands: commands,
  execute_command: commands,
  bash: commands,
  read_files: reads,
  read_file: reads,
  editor: write,
  write_to_file: write,
  replace_in_file: write,
  new_rule: write,
  apply_patch: (use, outcome, context) =>
    patchFiles(firstText(use.input, 'input', 'patch') ?? '').map((file) => writeDraft(context.path(file), outcome)),
  search_files: searches,
  search_codebase: searches,
  list_files: (use, outcome, context) => {
    const path = pathOf(use.input)
    return [listDraft(path === undefined ? undefined : context.path(path), outcome)]
  },
  skills: skill,
  use_skill: skill,
  [SPAWN]: (_use, outcome) => {
    const isSuccess = subagentSuccess(outcome)
    const action = isSuccess === false ? 'subagent_failed' : 'subagent_completed'
    return [{ type: 'orchestration', action, ...(isSuccess === undefined ? {} : { isSuccess }) }]
  },
})

/** Returns the input as an object. A bare value, which most tools accept as well, goes under `input`. */
export function inputOf(input: JsonValue | undefined): JsonObject {
  if (input === undefined || input === null) return NO_FIELDS
  return asObject(input) ?? { input }
}

function commands(...[use, outcome]: Parameters<ToolRule>): readonly ActivityDraft[] {
  const { input } = use
  const texts = listOf(input['commands'] ?? commandField(input)).map(commandText)
  return texts.flatMap((command, index): readonly ActivityDraft[] => {
    if (command === undefined) return []
    const { exitCode, isSuccess } = itemOutcome(outcome, index, texts.length)
    return [commandDraft(command, exitCode, isSuccess)]
  })
}

function commandField(input: JsonObject): JsonValue | undefined {
  return asText(input['command']) === undefined ? (input['cmd'] ?? input['input']) : input
}

/** Returns a command as text: a shell line, or a program with its arguments. */
function commandText(entry: JsonValue): string | undefined {
  const fields = asObject(entry)
  if (fields === undefined) return asText(entry)
  const command = asText(fields['command'])
  const args = textList(fields['args'])
  return command === undefined || args.length === 0 ? command : [command, ...args].map(quoted).join(' ')
}

function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`
}

function reads(...[use, outcome, context]: Parameters<ToolRule>): readonly ActivityDraft[] {
  const { input } = use
  const path = pathOf(input)
  const files =
    path === undefined ? listOf(input['files'] ?? input['file_paths'] ?? input['paths'] ?? input['input']) : [input]
  return files.flatMap((file, index): readonly ActivityDraft[] => {
    const fields = asObject(file) ?? NO_FIELDS
    const filePath = asText(file) ?? pathOf(fields)
    if (filePath === undefined) return []
    return [readDraft(context.path(filePath), rangeOf(fields), itemOutcome(outcome, index, files.length))]
  })
}

function rangeOf(file: JsonObject): { readonly startLine?: number; readonly endLine?: number } {
  const startLine = asCount(file['start_line'])
  const endLine = asCount(file['end_line'])
  if (endLine === undefined) return startLine === undefined ? {} : { startLine }
  return { startLine: startLine ?? 1, endLine }
}

/** Returns one search per query. Only older tools are given a path. */
function searches(...[use, outcome, context]: Parameters<ToolRule>): readonly ActivityDraft[] {
  const { input } = use
  const queries = textList(input['queries'] ?? input['regex'] ?? input['query'] ?? input['pattern'] ?? input['input'])
  const path = pathOf(input)
  const place = path === undefined ? undefined : context.path(path)
  return queries.map((query, index) => searchDraft(query, place, itemOutcome(outcome, index, queries.length)))
}

function skill(...[use, outcome, context]: Parameters<ToolRule>): readonly ActivityDraft[] {
  const skillName = firstText(use.input, 'skill', 'skill_name', 'name', 'input')
  if (skillName === undefined) return []
  const path = context.path(`skills/${skillName}/SKILL.md`)
  return [skillDraft(path, skillName, skillOutcome(skillName, outcome))]
}

/** The result is the skill's text, or a sentence that there is no such skill. */
function skillOutcome(skillName: string, outcome: ReportedOutcome): ReportedOutcome {
  const text = asText(outcome.result)
  if (outcome.isSuccess !== undefined || text === undefined) return outcome
  return { isSuccess: !text.startsWith(`Skill "${skillName}" not found`) }
}

function listOf(value: JsonValue | undefined): readonly JsonValue[] {
  return asArray(value) ?? (value === undefined || value === null ? [] : [value])
}

function pathOf(input: JsonObject): string | undefined {
  return firstText(input, 'path', 'file_path', 'filePath')
}
