import type { JsonObject } from '@inspan/protocol'
import type { ActivityDraft } from '../kit/activity.ts'
import { readDraft, skillDraft, writeDraft } from '../kit/drafts.ts'
import { asArray, asInteger, asObject, asText, firstInteger, firstText, NO_FIELDS } from '../kit/fields.ts'
import { listRule, searchRule, writeRule } from '../kit/path-rules.ts'
import {
  consumeCall,
  lineRange,
  success,
  toolTable,
  type ReportedOutcome,
  type ToolRule,
  type ToolTable,
} from '../kit/tool-table.ts'
import { isFailure } from './failures.ts'

/** Goose's own extensions. Tools of all others are MCP tools, whatever their names. */
const OWN_EXTENSIONS: ReadonlySet<string> = new Set([
  'analyze',
  'apps',
  'chatrecall',
  'code_execution',
  'computercontroller',
  'developer',
  'extensionmanager',
  'memory',
  'platform',
  'skills',
  'summon',
  'todo',
])

export function isOwnExtension(name: string): boolean {
  return OWN_EXTENSIONS.has(name)
}

const TODO_PREFIX = 'todo__'
const keepTodo = consumeCall('bookkeeping')

/** The commands of an editor that write. */
const EDITS: ReadonlySet<string> = new Set([
  'create',
  'diff',
  'edit_file',
  'insert',
  'str_replace',
  'undo_edit',
  'write',
])

const write = writeRule(pathOf)
const search = searchRule(pathOf, 'pattern', 'query', 'regex', 'glob')
const list = listRule(pathOf)

const named: ToolTable = toolTable(
  {
    text_editor: (use, outcome, context) => {
      const path = pathOf(use.input)
      const command = asText(use.input['command'])
      if (path === undefined || command === undefined) return []
      if (command === 'view') return [read(context.path(path), use.input, outcome)]
      return EDITS.has(command) ? [writeDraft(context.path(path), outcome)] : []
    },
    read: (use, outcome, context) => {
      const path = pathOf(use.input)
      return path === undefined ? [] : [read(context.path(path), use.input, outcome)]
    },
    write,
    edit: write,
    grep: search,
    glob: search,
    list,
    tree: list,
    read_image: (use, outcome, context) => {
      const path = asText(use.input['source'])
      // Anything else is an address.
      return path === undefined || /^\w+:/.test(path) ? [] : [readDraft(context.path(path), {}, outcome)]
    },
    shell: (use, outcome, context) => {
      const command = asText(use.input['command'])
      return command === undefined ? [] : context.command(command, outcome)
    },
    load_skill: skill,
    skill,
    delegate: (use, outcome) => {
      const subagentId = subagentOf(outcome)
      const subagentName = asText(use.input['source'])
      // Without either, the call was refused or its format is not known.
      if (subagentId === undefined && subagentName === undefined) return []
      const who = {
        type: 'orchestration',
        ...(subagentId === undefined ? {} : { subagentId }),
        ...(subagentName === undefined ? {} : { subagentName }),
      } as const
      if (outcome.isSuccess === false || isFailure(reportOf(outcome).trimEnd())) {
        return [{ ...who, action: 'subagent_failed', isSuccess: false }]
      }
      // A background subagent has only been started.
      if (use.input['async'] === true) return [{ ...who, action: 'subagent_started' }]
      return [{ ...who, action: 'subagent_completed', ...success(outcome) }]
    },
    load: (use, outcome) => {
      const subagentId = subagentOf(outcome)
      if (subagentId === undefined || use.input['peek'] === true || taskStatus(outcome) === 'running') return []
      return [subagentReport(subagentId, use.input, outcome)]
    },
  },
  { strip: withoutPrefix },
)

/** Rules for Goose's tools. MCP tools, web tools and all others are `unknown`. */
export const gooseTools: ToolTable = {
  rule: (name) => (name.startsWith(TODO_PREFIX) ? keepTodo : named.rule(name)),
}

function withoutPrefix(name: string): string {
  const end = name.indexOf('__')
  return end === -1 ? name : name.slice(end + 2)
}

function read(path: string, input: JsonObject, outcome: ReportedOutcome): ActivityDraft {
  return readDraft(path, rangeOf(input), outcome)
}

/** Returns the requested lines, in the formats that editors use: -1 is the end of the file. */
function rangeOf(input: JsonObject): { readonly startLine?: number; readonly endLine?: number } {
  const range = asArray(input['view_range'])
  const start = asInteger(range?.[0]) ?? firstInteger(input, 'start_line', 'startLine')
  const end = asInteger(range?.[1]) ?? firstInteger(input, 'end_line', 'endLine')
  if (start === undefined && end === undefined)
    return lineRange(firstInteger(input, 'offset', 'line'), asInteger(input['limit']))
  const startLine = Math.max(1, start ?? 1)
  return end === undefined || end < startLine ? { startLine } : { startLine, endLine: end }
}

/** The name is that of a skill, or `name/file` for one of the skill's other files. */
function skill(...[use, outcome, context]: Parameters<ToolRule>): readonly ActivityDraft[] {
  const asked = firstText(use.input, 'name', 'skill', 'skill_name')
  if (asked === undefined) return []
  const slash = asked.indexOf('/')
  const skillName = slash === -1 ? asked : asked.slice(0, slash)
  const file = slash === -1 ? 'SKILL.md' : asked.slice(slash + 1)
  return [skillDraft(context.path(`skills/${skillName}/${file}`), skillName, outcome)]
}

function reportOf(outcome: ReportedOutcome): string {
  if (typeof outcome.result === 'string') return outcome.result
  const [first] = asArray(outcome.result) ?? []
  return asText(asObject(first)?.['text']) ?? ''
}

function subagentOf(outcome: ReportedOutcome): string | undefined {
  return asText((asObject(outcome.detail) ?? NO_FIELDS)['subagent_session_id'])
}

function taskStatus(outcome: ReportedOutcome): string | undefined {
  return asText((asObject(outcome.detail) ?? NO_FIELDS)['task_status'])
}

/** The report of a background subagent states in its head how it ended, before the subagent's own words. */
const REPORT_STATUS = /^\*\*Status:\*\* (.+)$/m
const REPORT_HEAD = 2_000
const REPORT_WORDS = '\n## Output\n\n'
const UNFINISHED = /\b(?:failed|cancelled)\b/i

function subagentReport(subagentId: string, input: JsonObject, outcome: ReportedOutcome): ActivityDraft {
  const report = reportOf(outcome)
  const words = report.indexOf(REPORT_WORDS)
  const status = taskStatus(outcome) ?? REPORT_STATUS.exec(report.slice(0, REPORT_HEAD))?.[1] ?? ''
  const hasFailed =
    outcome.isSuccess === false ||
    input['cancel'] === true ||
    UNFINISHED.test(status) ||
    (words !== -1 && isFailure(report.slice(words + REPORT_WORDS.length).trimEnd()))
  const action = hasFailed ? 'subagent_failed' : 'subagent_completed'
  return { type: 'orchestration', action, subagentId, isSuccess: !hasFailed }
}

function pathOf(input: JsonObject): string | undefined {
  return firstText(input, 'path', 'file_path', 'filePath', 'dir', 'directory')
}
