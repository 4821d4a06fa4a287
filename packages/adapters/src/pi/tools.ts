import type { JsonObject } from '@inspan/protocol'
import type { ActivityDraft } from '../kit/activity.ts'
import { readDraft } from '../kit/drafts.ts'
import { asCount, asText, firstText } from '../kit/fields.ts'
import { listRule, searchRule, writeRule } from '../kit/path-rules.ts'
import { lineRange, toolTable, type ToolRule, type ToolTable } from '../kit/tool-table.ts'

const write = writeRule(pathOf)
const search = searchRule(pathOf, 'pattern', 'query')
const list = listRule(pathOf)

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
