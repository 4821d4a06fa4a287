import { searchableTools, unmatchedEntries, type ToolSearchOptions } from '@inspan/tools'
import type { RunnableTool } from '@inspan/protocol/driver'
import type { ThreadState } from '@inspan/protocol/log'
import type { ReportSource } from './tools-of-sources.ts'

/** The setting of a thread with the names of the tools that its model has found. */
const LOADED_TOOLS = 'loadedTools'

/** Returns what the model of a thread is offered: the search, what is always active, and what it has found before. */
export function threadToolSearch(
  tools: readonly RunnableTool[],
  options: ToolSearchOptions,
  { head }: ThreadState,
  keepSetting: (key: string, value: readonly string[]) => Promise<void>,
  report: ReportSource,
): RunnableTool[] {
  for (const problem of unmatchedEntries(tools, options)) report(problem)
  const kept = head.settings.get(LOADED_TOOLS)
  const names = new Set(Array.isArray(kept) ? kept.map(String) : [])
  return searchableTools(tools, options, { names, load: (found) => keepSetting(LOADED_TOOLS, [...names, ...found]) })
}
