import type { JsonObject } from '@inspan/protocol'
import type { ActivityDraft } from '../kit/activity.ts'
import { listDraft, readDraft, searchDraft, skillDraft, writeDraft } from '../kit/drafts.ts'
import { asArray, asCount, asInteger, asObject, asText, firstText, NO_FIELDS } from '../kit/fields.ts'
import { patchFiles } from '../kit/patch-files.ts'
import {
  lineRange,
  success,
  toolTable,
  type ReportedOutcome,
  type ToolRule,
  type ToolTable,
} from '../kit/tool-table.ts'

/** Rules for OpenCode's own tools. MCP tools, web tools, to-do lists and all others are `unknown`. */
export const opencodeTools: ToolTable = toolTable({
  read: (use, outcome, context) => {
    const display = asObject(detailOf(outcome)['display']) ?? NO_FIELDS
    const path = asText(display['path']) ?? fileOf(use.input)
    if (path === undefined) return []
    if (display['type'] === 'directory') return [listDraft(context.path(path), outcome)]
    return [readDraft(context.path(path), rangeOf(display, use.input), outcome)]
  },
  write,
  edit: write,
  apply_patch: (use, outcome, context) => {
    const changed = changedFiles(outcome)
    const files = changed.length > 0 ? changed : patchFiles(firstText(use.input, 'patchText', 'patch', 'input') ?? '')
    return files.map((file) => writeDraft(context.path(file), outcome))
  },
  grep: searchFor('pattern'),
  glob: searchFor('pattern'),
  lsp: searchFor('query', 'symbol'),
  bash: (use, outcome, context) => {
    const command = asText(use.input['command'])
    return command === undefined ? [] : context.command(command, outcome, asText(use.input['workdir']))
  },
  skill: (use, outcome, context) => {
    const detail = detailOf(outcome)
    const skillName = asText(use.input['name']) ?? asText(detail['name'])
    const directory = asText(detail['dir']) ?? (skillName === undefined ? undefined : `skills/${skillName}`)
    if (directory === undefined) return []
    const path = context.path(`${directory}/SKILL.md`)
    return [skillDraft(path, skillName, outcome)]
  },
  task: (use, outcome) => {
    const detail = detailOf(outcome)
    const subagentId = firstText(detail, 'sessionId', 'sessionID') ?? asText(use.input['task_id'])
    const isBackground = detail['background'] === true || use.input['background'] === true
    return subagent(subagentId, asText(use.input['subagent_type']), outcome, isBackground)
  },
})

/** Returns how a subagent ended, if it is known which one it was. A background subagent has only been started. */
export function subagent(
  subagentId: string | undefined,
  subagentName: string | undefined,
  outcome: ReportedOutcome,
  isBackground: boolean,
): readonly ActivityDraft[] {
  if (subagentId === undefined && subagentName === undefined) return []
  const who = {
    type: 'orchestration',
    ...(subagentId === undefined ? {} : { subagentId }),
    ...(subagentName === undefined ? {} : { subagentName }),
  } as const
  if (outcome.isSuccess === false) return [{ ...who, action: 'subagent_failed', isSuccess: false }]
  if (isBackground) return [{ ...who, action: 'subagent_started' }]
  return [{ ...who, action: 'subagent_completed', ...success(outcome) }]
}

export function searchFor(...fields: readonly string[]): ToolRule {
  return (use, outcome, context) => {
    const query = firstText(use.input, ...fields)
    if (query === undefined) return []
    const path = asText(use.input['path']) ?? fileOf(use.input)
    return [searchDraft(query, path === undefined ? undefined : context.path(path), outcome)]
  }
}

function write(...[use, outcome, context]: Parameters<ToolRule>): readonly ActivityDraft[] {
  const detail = detailOf(outcome)
  const path = asText(detail['filepath']) ?? asText(asObject(detail['filediff'])?.['file']) ?? fileOf(use.input)
  return path === undefined ? [] : [writeDraft(context.path(path), outcome)]
}

/** Returns the files that a patch changed, each once. A moved file has both paths, as in the patch itself. */
function changedFiles(outcome: ReportedOutcome): readonly string[] {
  const files = new Set<string>()
  for (const item of asArray(detailOf(outcome)['files']) ?? []) {
    const file = asObject(item) ?? NO_FIELDS
    for (const path of [asText(file['filePath']), asText(file['movePath'])]) if (path !== undefined) files.add(path)
  }
  return [...files]
}

/** Returns the lines that were read if OpenCode reports them, otherwise those that were requested. */
function rangeOf(display: JsonObject, input: JsonObject): ReturnType<typeof lineRange> {
  const start = asInteger(display['lineStart'])
  const end = asInteger(display['lineEnd'])
  if (start === undefined || start < 1) return lineRange(asCount(input['offset']), asCount(input['limit']))
  return end === undefined || end < start ? { startLine: start } : { startLine: start, endLine: end }
}

function fileOf(input: JsonObject): string | undefined {
  return firstText(input, 'filePath', 'path', 'file_path')
}

function detailOf(outcome: ReportedOutcome): JsonObject {
  return asObject(outcome.detail) ?? NO_FIELDS
}
