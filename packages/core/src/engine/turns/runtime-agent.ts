import { Agent, agentContext, type DecorateContext } from '@evener/agent'
import type { AgentDriver } from '@evener/protocol'
import type { RuntimeAgent } from './active-run.ts'

/** Whatever takes an agent takes one of ours or a foreign one. */
export type AgentLike = Agent | AgentDriver

export interface RuntimeAgentOptions {
  /** Adds to what tools are given when they run. */
  readonly decorate?: DecorateContext
}

/** An agent as the engine drives it. A foreign one brings its own tools. */
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
