import { Agent } from '@inspan/agent'
import type { MCPConfiguration } from '@inspan/protocol/chat'
import { ConsumerTools, McpServers, SEARCH_TOOLS, type McpEvent } from '@inspan/tools'
import type { RunnableTool, ToolSource, ToolSourceContext } from '@inspan/protocol/driver'
import { type ReportSource, toolsOfSources } from '../../engine/index.ts'
import { endAll } from '../end-all.ts'
import { BUILTIN_TOOL_IDS } from '../tools/builtin-tools.ts'
import { loadProjectFiles, type ProjectFiles } from './project-files.ts'
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
  #mcp: McpServers | undefined
  #files: ProjectFiles = {}

  constructor(config: HarnessConfig, report: ReportSource) {
    this.#config = config
    this.#report = report
  }

  /** Makes the sources that the configuration describes. Does not wait for servers. */
  async start(): Promise<void> {
    const { consumerTools, mcpServers } = this.#config
    if (consumerTools !== undefined) this.own(new ConsumerTools(consumerTools))
    if (mcpServers !== undefined) this.mcp(mcpServers)
    const files = await loadProjectFiles(this.#config, this.#report)
    this.#files = files
    if (files.skills !== undefined) this.own(files.skills)
  }

  /** Returns what files add to the instructions. Foreign agents read AGENTS.md themselves. */
  instructions(agent: HarnessAgent): readonly string[] {
    const { agentsFile, rules = [] } = this.#files
    const own = agent instanceof Agent && agentsFile !== undefined ? [agentsFile.text] : []
    return [...rules.map(({ text }) => text), ...own]
  }

  /** Returns the MCP servers. They are started with the given configuration unless there are any. */
  mcp(servers: MCPConfiguration = {}): McpServers {
    if (this.#mcp !== undefined) return this.#mcp
    this.#mcp = new McpServers(servers, { ...this.#config.mcp, onEvent: (event) => this.#followMcp(event) })
    this.own(this.#mcp)
    return this.#mcp
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
    const taken = [...others.map(({ name }) => name), ...BUILTIN_TOOL_IDS, SEARCH_TOOLS]
    return toolsOfSources([...new Set(all)], context, { taken, report: (problem) => this.reportOnce(problem) })
  }

  async close(): Promise<void> {
    const closing = this.#own
    this.#own = []
    this.#mcp = undefined
    this.#files = {}
    this.#reported.clear()
    await endAll(closing.map((source) => () => source.close()))
  }

  #followMcp(event: McpEvent): void {
    if (event.type !== 'mcp-server-discovery-failed') return
    const { error = '' } = this.#mcp?.info().find(({ name }) => name === event.serverName) ?? {}
    this.#report(`MCP server "${event.serverName}" is not connected (${event.errorDetail.category}): ${error}`)
  }

  /** Tools are listed before every step, and the same problem is worth one message. */
  reportOnce(problem: string): void {
    if (this.#reported.has(problem)) return
    this.#reported.add(problem)
    this.#report(problem)
  }
}
