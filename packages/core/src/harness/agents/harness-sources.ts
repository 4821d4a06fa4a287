import { Agent } from '@inspan/agent'
import type { RunnableTool, ToolSource, ToolSourceContext } from '@inspan/protocol/driver'
import { toolsOfSources, type ReportSource } from '../../engine/tools/tools-of-sources.ts'
import { endAll } from '../end-all.ts'
import { BUILTIN_TOOL_IDS } from '../tools/builtin-tools.ts'
import type { HarnessAgent, HarnessConfig, HarnessMode } from '../harness-config.ts'

/**
 * The tool sources of a harness. Those in the configuration belong to whoever made them. Those that the harness makes
 * itself, when it starts, are closed with it.
 */
export class HarnessSources {
  readonly #config: HarnessConfig
  readonly #report: ReportSource
  readonly #reported = new Set<string>()
  #own: readonly ToolSource[] = []

  constructor(config: HarnessConfig, report: ReportSource) {
    this.#config = config
    this.#report = report
  }

  /** Adds a source that is closed with the harness. */
  own(source: ToolSource): void {
    this.#own = [...this.#own, source]
  }

  /** A mode with `tools` replaces the agent's tools and sources. */
  tools(
    mode: HarnessMode,
    agent: HarnessAgent,
    context: ToolSourceContext,
    others: readonly RunnableTool[],
    more: readonly ToolSource[] = [],
  ): Promise<RunnableTool[]> {
    const ofAgent = mode.tools === undefined && agent instanceof Agent ? (agent.options.toolSources ?? []) : []
    const all = [...(mode.toolSources ?? []), ...ofAgent, ...(this.#config.toolSources ?? []), ...more, ...this.#own]
    // One source may be given in several places.
    // The built-in tools need no approval, so no source may pose as one of them.
    const taken = [...others.map(({ name }) => name), ...BUILTIN_TOOL_IDS]
    return toolsOfSources([...new Set(all)], context, { taken, report: (problem) => this.#tell(problem) })
  }

  async close(): Promise<void> {
    const closing = this.#own
    this.#own = []
    this.#reported.clear()
    await endAll(closing.map((source) => () => source.close()))
  }

  /** Tools are listed before every step, and the same problem is worth one message. */
  #tell(problem: string): void {
    if (this.#reported.has(problem)) return
    this.#reported.add(problem)
    this.#report(problem)
  }
}
