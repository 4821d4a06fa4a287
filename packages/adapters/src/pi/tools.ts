import type { JsonObject } from '@inspan/protocol'
import type { ActivityDraft } from '../kit/activity.ts'
import { listDraft, readDraft, searchDraft, writeDraft } from '../kit/drafts.ts'
import { asCount, asText, firstText } from '../kit/fields.ts'
import { lineRange, toolTable, type ToolRule, type ToolTable } from '../kit/tool-table.ts'

/** Rules for Pi's tools, under all names they have had. A skill is an ordinary read of its file. */
export const piTools: ToolTable = toolTable(
  {
    read: (use, outcome, context) => {
      const path = pathOf(use.input)
      if (path === undefined) return []
      const range = lineRange(asCount(use.input['offset']), asCount(use.input['limit']))
      return [readDraft(context.path(path), range, outcome)]
    },
    write,
    edit: write,
    search,
    grep: search,
    glob: search,
    find: search,
    list,
    ls: list,
    bash: command,
    shell: command,
  },
  { ignoreCase: true },
)

function write(...[use, outcome, context]: Parameters<ToolRule>): readonly ActivityDraft[] {
  const path = pathOf(use.input)
  return path === undefined ? [] : [writeDraft(context.path(path), outcome)]
}

function search(...[use, outcome, context]: Parameters<ToolRule>): readonly ActivityDraft[] {
  const query = firstText(use.input, 'pattern', 'query')
  if (query === undefined) return []
  const path = pathOf(use.input)
  return [searchDraft(query, path === undefined ? undefined : context.path(path), outcome)]
}

function list(...[use, outcome, context]: Parameters<ToolRule>): readonly ActivityDraft[] {
  const path = pathOf(use.input)
  return [listDraft(path === undefined ? undefined : context.path(path), outcome)]
}

function command(...[use, outcome, context]: Parameters<ToolRule>): readonly ActivityDraft[] {
  const text = asText(use.input['command'])
  return text === undefined ? [] : context.command(text, outcome)
}

/** Returns the path. Pi also accepts what models write in prompts (`@src/a.ts`) and links (`file:///src/a.ts`). */
function pathOf(input: JsonObject): string | undefined {
  const path = firstText(input, 'path', 'file_path', 'filePath')
  return path?.startsWith('file:///') === true ? decoded(path.slice('file://'.length)) : path?.replace(/^@(?=.)/, '')
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}
