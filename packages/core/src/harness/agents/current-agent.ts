import { Agent, runnableTools, type AgentContext, type DecorateContext } from '@inspan/agent'
import type { RunnableTool } from '@inspan/protocol/driver'
import type { HarnessAgent, HarnessMode } from '../harness-config.ts'
import type { HarnessCore } from '../harness-core.ts'

/** Returns the agent of a mode as it works there. A foreign agent has its instructions and tools in itself. */
export function currentAgent(core: HarnessCore, mode: HarnessMode): HarnessAgent {
  const agent = core.agents.of(mode)
  return agent instanceof Agent ? new ModeAgent(core, mode, agent) : agent
}

class ModeAgent extends Agent {
  readonly #core: HarnessCore
  readonly #mode: HarnessMode
  readonly #agent: Agent

  constructor(core: HarnessCore, mode: HarnessMode, agent: Agent) {
    const { browser, instructions, memory, workspace } = core.config
    const { options } = agent
    super({
      ...options,
      ...objectFor('memory', options.memory ?? memory),
      ...objectFor('workspace', options.workspace ?? core.workspace.get() ?? workspace),
      ...(options.browser === undefined ? objectFor('browser', browser) : {}),
      instructions: async (context) =>
        [await agent.instructions(context), instructions, mode.instructions].filter(Boolean).join('\n\n') || undefined,
    })
    this.#core = core
    this.#mode = mode
    this.#agent = agent
  }

  override async tools(context: AgentContext, decorate?: DecorateContext): Promise<RunnableTool[]> {
    const { additionalTools, tools } = this.#mode
    const own = tools === undefined ? await this.#agent.tools(context, decorate) : runnableTools(tools, decorate)
    const added = additionalTools === undefined ? [] : runnableTools(additionalTools, decorate)
    return firstOfEachName([...added, ...own, ...(await this.#core.agents.sharedTools(context, decorate))])
  }
}

/** What a function makes for a request is not there before the request. */
function objectFor(key: string, value: unknown): Record<string, object> {
  return typeof value === 'object' && value !== null ? { [key]: value } : {}
}

function firstOfEachName(tools: readonly RunnableTool[]): RunnableTool[] {
  return tools.filter(({ name }, index) => tools.findIndex((tool) => tool.name === name) === index)
}
