import { toErrorData } from '@inspan/protocol'
import type { RunnableTool, SourcedTool, ToolSource, ToolSourceContext } from '@inspan/protocol/driver'

/** Called with a sentence when a source cannot be used as it is. */
export type ReportSource = (problem: string) => void

export interface UnionOptions {
  /** Names of tools that are offered already. */
  readonly taken: Iterable<string>
  readonly report: ReportSource
}

const runnable = new WeakMap<ToolSource, WeakMap<SourcedTool, RunnableTool>>()

/**
 * Returns the tools of all sources. A tool whose name is taken, maybe by an earlier source, is not offered: under
 * another name it would escape the rules about this one. A source that fails to list its tools offers none in this
 * step.
 */
export async function toolsOfSources(
  sources: readonly ToolSource[],
  context: ToolSourceContext,
  { report, taken }: UnionOptions,
): Promise<RunnableTool[]> {
  const lists = await Promise.all(sources.map((source) => listed(source, context, report)))
  const names = new Set(taken)
  return sources.flatMap((source, index) =>
    (lists[index] ?? []).flatMap((tool) => {
      if (names.has(tool.name)) {
        report(`Tool "${tool.name}" of "${source.id}" is not offered: another tool has this name.`)
        return []
      }
      names.add(tool.name)
      return [runnableOf(source, tool)]
    }),
  )
}

async function listed(
  source: ToolSource,
  context: ToolSourceContext,
  report: ReportSource,
): Promise<readonly SourcedTool[]> {
  try {
    return await source.list(context)
  } catch (error) {
    report(`The tools of "${source.id}" could not be listed: ${toErrorData(error).message}`)
    return []
  }
}

function runnableOf(source: ToolSource, tool: SourcedTool): RunnableTool {
  const known = runnable.get(source) ?? new WeakMap<SourcedTool, RunnableTool>()
  runnable.set(source, known)
  const ready = known.get(tool)
  if (ready !== undefined) return ready
  const made: RunnableTool = { ...tool, execute: async (input, run) => source.call(tool.name, input, run) }
  known.set(tool, made)
  return made
}
