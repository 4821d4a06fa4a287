import type { JsonObject } from '@inspan/protocol'
import type { RunnableTool } from '@inspan/protocol/driver'
import type { HarnessSubagent } from '../harness-config.ts'
import { explaining, optionalText, requiredText, ToolRefusal } from '../tools/tool-input.ts'

/** What a call of the tool orders. */
export interface SubagentOrder {
  readonly definition: HarnessSubagent
  readonly task: string
  readonly modelId?: string
  readonly forked: boolean
  readonly background: boolean
}

type ExecuteTool = RunnableTool['execute']

/** Returns the built-in tool that starts subagents. Repeating a call finds the subagent that it started before. */
export function subagentTool(
  definitions: readonly HarnessSubagent[],
  work: (order: SubagentOrder, context: Parameters<ExecuteTool>[1]) => ReturnType<ExecuteTool>,
): RunnableTool {
  return explaining({
    name: 'subagent',
    description: descriptionOf(definitions),
    inputSchema: {
      type: 'object',
      properties: {
        agentType: { type: 'string', enum: definitions.map(({ id }) => id), description: 'The type of subagent.' },
        task: {
          type: 'string',
          minLength: 1,
          description: 'What to do. Unless it is forked, the subagent knows nothing but this.',
        },
        modelId: { type: 'string', description: 'Another model than the usual one of this type.' },
        forked: {
          type: 'boolean',
          description: 'True: the subagent knows this conversation and has your instructions, tools and model.',
        },
        background: {
          type: 'boolean',
          description: 'True: go on at once. You are notified of the result when the subagent has ended.',
        },
      },
      required: ['agentType', 'task'],
    },
    category: 'other',
    isIdempotent: true,
    execute: async (input, context) => work(readOrder(definitions, input), context),
  })
}

function descriptionOf(definitions: readonly HarnessSubagent[]): string {
  const types = definitions.map(({ description, forked, id, name }) => {
    const kind = forked === true ? ' (forked unless you say otherwise)' : ''
    return `- ${id}: ${name}. ${description}${kind}`
  })
  return [
    'Has a subagent do a task on its own and returns its final answer. Several calls in one step work at the same time.',
    'Give it all it has to know: it does not see this conversation, unless it is forked.',
    'Types of subagents:',
    ...types,
  ].join('\n')
}

function optionalFlag(input: JsonObject, name: string): boolean | undefined {
  const { [name]: value } = input
  if (value === undefined || value === null || typeof value === 'boolean') return value ?? undefined
  throw new ToolRefusal(`"${name}" must be true or false.`)
}

function readOrder(definitions: readonly HarnessSubagent[], input: JsonObject): SubagentOrder {
  const agentType = requiredText(input, 'agentType')
  const definition = definitions.find(({ id }) => id === agentType)
  if (definition === undefined) {
    const known = definitions.map(({ id }) => id).join(', ')
    throw new ToolRefusal(`There is no subagent "${agentType}". "agentType" must be one of ${known}.`)
  }
  const task = requiredText(input, 'task')
  const modelId = optionalText(input, 'modelId')
  const forked = optionalFlag(input, 'forked') ?? definition.forked ?? false
  return {
    definition,
    task,
    forked,
    background: optionalFlag(input, 'background') ?? false,
    ...(modelId === undefined || modelId === '' ? {} : { modelId }),
  }
}
