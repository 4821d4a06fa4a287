import type { JsonObject, StepRequest } from '@inspan/protocol'
import type { RunnableTool } from '@inspan/protocol/driver'
import type { Store } from '@inspan/protocol/store'
import { recordedRequest, type RuntimeAgent, type TurnContext } from '../../engine/index.ts'
import { isObject } from '../tools/tool-input.ts'

/**
 * Returns the parent's agent for a fork. It sends the instructions and tools of the request it continues, as they are on
 * record: computed again they could differ, and then the provider's cache would not know the conversation.
 */
export function forkedAgent(agent: RuntimeAgent, store: Store, at: number): RuntimeAgent {
  let recorded: Promise<StepRequest | null> | undefined
  const request = ({ state }: TurnContext): Promise<StepRequest | null> =>
    (recorded ??= recordedRequest(store, state.head.lineage, at))
  return {
    ...agent,
    tools: async (context) => {
      const { tools = [] } = agent
      const present = typeof tools === 'function' ? await tools(context) : tools
      const sent = (await request(context))?.tools
      return Array.isArray(sent) ? sent.filter(isObject).map((definition) => asSent(definition, present)) : present
    },
    turn: async (context) => {
      const { turn = {} } = agent
      const present = typeof turn === 'function' ? await turn(context) : turn
      const system = (await request(context))?.system
      return system === undefined ? present : { ...present, instructions: system }
    },
  }
}

/** Returns the tool as the parent's model was offered it. A tool that is gone by now stays in the list and returns that. */
function asSent(definition: JsonObject, present: readonly RunnableTool[]): RunnableTool {
  const { description, inputSchema, name } = definition
  const tool = present.find((each) => each.name === name) ?? unavailable(typeof name === 'string' ? name : '')
  return {
    ...tool,
    inputSchema: isObject(inputSchema) ? inputSchema : {},
    ...(typeof description === 'string' ? { description } : {}),
  }
}

function unavailable(name: string): RunnableTool {
  const result = { content: `The tool ${name} is not available now.`, isError: true }
  return { name, inputSchema: {}, category: 'read', execute: async () => ({ result, isError: true }) }
}
