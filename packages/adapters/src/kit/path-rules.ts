import type { JsonObject } from '@inspan/protocol'
import { listDraft, searchDraft, writeDraft } from './drafts.ts'
import { firstText } from './fields.ts'
import type { ToolRule } from './tool-table.ts'

/** Returns the path that a tool's input names. */
type PathOf = (input: JsonObject) => string | undefined

export function writeRule(pathOf: PathOf): ToolRule {
  return (use, outcome, context) => {
    const path = pathOf(use.input)
    return path === undefined ? [] : [writeDraft(context.path(path), outcome)]
  }
}

/** `queries` are the fields that may hold what is searched for. */
export function searchRule(pathOf: PathOf, ...queries: readonly string[]): ToolRule {
  return (use, outcome, context) => {
    const query = firstText(use.input, ...queries)
    if (query === undefined) return []
    const path = pathOf(use.input)
    return [searchDraft(query, path === undefined ? undefined : context.path(path), outcome)]
  }
}

export function listRule(pathOf: PathOf): ToolRule {
  return (use, outcome, context) => {
    const path = pathOf(use.input)
    return [listDraft(path === undefined ? undefined : context.path(path), outcome)]
  }
}
