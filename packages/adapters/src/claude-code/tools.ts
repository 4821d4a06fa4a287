import type { JsonObject } from '@inspan/protocol'
import type { ActivityDraft } from '../kit/activity.ts'
import { listDraft, readDraft, searchDraft, skillDraft } from '../kit/drafts.ts'
import { asCount, asInteger, asObject, asText, firstText, NO_FIELDS } from '../kit/fields.ts'
import { writeRule } from '../kit/path-rules.ts'
import {
  consumeCall,
  lineRange,
  toolTable,
  type MappingContext,
  type ReportedOutcome,
  type ToolRule,
  type ToolTable,
} from '../kit/tool-table.ts'

const write = writeRule(fileOf)

/** Rules for Claude Code's own tools. MCP tools, web tools and all others are `unknown`. */
export const claudeTools: ToolTable = toolTable({
  Read: (use, outcome, context) => {
    const path = fileOf(use.input)
    if (path === undefined) return []
    const range = lineRange(asCount(use.input['offset']), asCount(use.input['limit']))
    return [readDraft(context.path(path), range, outcome)]
  },
  Write: write,
  Edit: write,
  MultiEdit: write,
  NotebookEdit: write,
  Grep: searchFor('pattern'),
  Glob: searchFor('pattern'),
  LS: (use, outcome, context) => {
    const path = asText(use.input['path'])
    return [listDraft(path === undefined ? undefined : context.path(path), outcome)]
  },
  Bash: (use, outcome, context) => {
    const command = asText(use.input['command'])
    return command === undefined ? [] : context.command(command, outcome)
  },
  Skill: (use, outcome, context) => {
    const skillName = firstText(use.input, 'skill', 'command', 'name')
    if (skillName === undefined) return []
    const path = context.path(skillFile(outcome) ?? `skills/${skillName}/SKILL.md`)
    return [skillDraft(path, skillName, outcome)]
  },
  // For subagents without task records; task records report the others.
  Agent: delegate,
  Task: delegate,
  Workflow: delegate,
  StructuredOutput: consumeCall('structured-output'),
  ToolSearch: consumeCall('bookkeeping'),
  TaskCreate: consumeCall('bookkeeping'),
  TaskGet: consumeCall('bookkeeping'),
  TaskList: consumeCall('bookkeeping'),
  TaskUpdate: consumeCall('bookkeeping'),
  TaskStop: consumeCall('bookkeeping'),
})

function fileOf(input: JsonObject): string | undefined {
  return firstText(input, 'file_path', 'notebook_path', 'path')
}

function searchFor(field: string): ToolRule {
  return (use, outcome, context) => {
    const query = asText(use.input[field])
    if (query === undefined) return []
    const path = asText(use.input['path'])
    return [searchDraft(query, path === undefined ? undefined : context.path(path), outcome)]
  }
}

function delegate(use: { readonly input: JsonObject }, outcome: ReportedOutcome): readonly ActivityDraft[] {
  const detail = asObject(outcome.detail) ?? NO_FIELDS
  const subagentId = asText(detail['agentId'])
  const subagentName = firstText(use.input, 'subagent_type', 'description') ?? asText(detail['agentType'])
  const who = {
    ...(subagentId === undefined ? {} : { subagentId }),
    ...(subagentName === undefined ? {} : { subagentName }),
  }
  if (outcome.isSuccess !== true)
    return [{ type: 'orchestration', action: 'subagent_failed', ...who, isSuccess: false }]
  if (detail['status'] === 'async_launched') return [{ type: 'orchestration', action: 'subagent_started', ...who }]
  return [{ type: 'orchestration', action: 'subagent_completed', ...who, isSuccess: true }]
}

/** The skill's file that the CLI named, which the reader put into the outcome. */
function skillFile(outcome: ReportedOutcome): string | undefined {
  return asText(asObject(outcome.detail)?.['skillFile'])
}

/** Returns the activity that the result of a read tells by itself. */
export function readFromResult(outcome: ReportedOutcome, context: MappingContext): readonly ActivityDraft[] {
  const file = asObject(asObject(outcome.detail)?.['file'])
  const path = file === undefined ? undefined : asText(file['filePath'])
  if (file === undefined || path === undefined) return []
  const start = asInteger(file['startLine'])
  const range = start === undefined ? {} : lineRange(start, asInteger(file['numLines']))
  return [readDraft(context.path(path), range, outcome)]
}
