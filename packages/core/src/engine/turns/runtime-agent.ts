import { Agent, agentContext, type DecorateContext } from '@inspan/agent'
import type { AgentDriver, RunnableTool, ToolSource } from '@inspan/protocol/driver'
import { toolsOfSources, type ReportSource } from '../tools/tools-of-sources.ts'
import type { RuntimeAgent, TurnContext } from './active-run.ts'

/** One of our own agents, or a foreign one. */
export type AgentLike = Agent | AgentDriver

export interface RuntimeAgentOptions {
  /** Extends the context that tools run with. */
  readonly decorate?: DecorateContext
  /** Where tools come from besides the agent's own. */
  readonly sources?: readonly ToolSource[]
  /** Called when a source fails to list its tools, or lists one whose name is taken. */
  readonly onSourceProblem?: ReportSource
}

/** Returns the agent as the engine drives it. */
export function runtimeAgent(agent: AgentLike, options: RuntimeAgentOptions = {}): RuntimeAgent {
  const { decorate, sources = [] } = options
  if (!(agent instanceof Agent)) {
    if (sources.length === 0) return { driver: agent }
    return { driver: agent, tools: (turn) => sourcedTools(sources, agent.id, turn, options) }
  }
  const { budget, toolSources = [] } = agent.options
  return {
    driver: agent.driver(),
    name: agent.name,
    ...(budget === undefined ? {} : { turn: { budget } }),
    tools: async (turn) => {
      const { requestContext, runId, state, turnId } = turn
      const context = agentContext({ threadId: state.head.stream, runId, turnId, requestContext })
      const own = await agent.tools(context, decorate)
      const all = [...toolSources, ...sources]
      return all.length === 0 ? own : [...own, ...(await sourcedTools(all, agent.id, turn, options, own))]
    },
  }
}

function sourcedTools(
  sources: readonly ToolSource[],
  agentId: string,
  { requestContext, runId, state }: TurnContext,
  { onSourceProblem = () => undefined }: RuntimeAgentOptions,
  own: readonly RunnableTool[] = [],
): Promise<RunnableTool[]> {
  const context = {
    threadId: state.head.stream,
    runId,
    agentId,
    ...(requestContext === undefined ? {} : { requestContext }),
  }
  return toolsOfSources(sources, context, { taken: own.map(({ name }) => name), report: onSourceProblem })
}
