import { Agent, agentContext, type DecorateContext } from '@inspan/agent'
import type { AgentDriver } from '@inspan/protocol/driver'
import type { RuntimeAgent } from './active-run.ts'

/** One of our own agents, or a foreign one. */
export type AgentLike = Agent | AgentDriver

export interface RuntimeAgentOptions {
  /** Extends the context that tools run with. */
  readonly decorate?: DecorateContext
}

/** Returns the agent as the engine drives it. A foreign agent brings its own tools. */
export function runtimeAgent(agent: AgentLike, options: RuntimeAgentOptions = {}): RuntimeAgent {
  if (!(agent instanceof Agent)) return { driver: agent }
  const { budget } = agent.options
  return {
    driver: agent.driver(),
    name: agent.name,
    ...(budget === undefined ? {} : { turn: { budget } }),
    tools: ({ requestContext, runId, state, turnId }) =>
      agent.tools(agentContext({ threadId: state.head.stream, runId, turnId, requestContext }), options.decorate),
  }
}
