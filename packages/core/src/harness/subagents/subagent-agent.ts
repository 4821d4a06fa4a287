import { Agent, type AgentContext, type ModelInput } from '@inspan/agent'
import { InspanError } from '@inspan/protocol'
import type { AgentDriver, RunnableTool, TurnDefaults } from '@inspan/protocol/driver'
import { type RuntimeAgent, toolsOfSources, type TurnContext } from '../../engine/index.ts'
import { driverOf, sourceContextOf, toolsMadeOnce, type ThreadServices } from '../agents/mode-agents.ts'
import type { HarnessAgent, HarnessSubagent } from '../harness-config.ts'
import type { HarnessCore } from '../harness-core.ts'
import { BUILTIN_TOOL_IDS } from '../tools/builtin-tools.ts'
import type { ChildNote } from './child-note.ts'

export const DEFAULT_MAX_STEPS = 50

/** The built-in tools that a subagent can be given by name. The others act on the thread of a session. */
const LENDABLE: ReadonlySet<string> = new Set(['ask_user', 'subagent'])

export interface SubagentAgentOptions {
  readonly core: HarnessCore
  readonly definition: HarnessSubagent
  readonly note: ChildNote
  /** That of the subagent's thread. */
  readonly services: ThreadServices
  /** Its model is that of a definition without one. */
  readonly parentAgent: HarnessAgent
}

/** Returns the agent that works in the thread of a subagent. It has the tools of its definition and no others. */
export function subagentAgent({ core, definition, services, note, parentAgent }: SubagentAgentOptions): RuntimeAgent {
  const { agent } = definition
  const driver = driverFor(core, definition, note, parentAgent)
  const runnable = toolsMadeOnce(services.decorate)
  const tools = async (turn: TurnContext): Promise<readonly RunnableTool[]> => {
    const context = services.agentContext(turn)
    await services.prepare(context.requestContext)
    const ofAgent = agent instanceof Agent ? await agent.tools(context, services.decorate) : []
    const own = [...runnable(definition.tools), ...ofAgent, ...(await lent(core, definition, services, context))]
    const byName = new Map(own.toReversed().map((tool) => [tool.name, tool]))
    // A foreign agent has file tools and a shell of its own.
    const isNative = agent === undefined || agent instanceof Agent
    const sources = isNative ? services.sources(context.requestContext) : []
    const sourced = await toolsOfSources(sources, sourceContextOf(turn, note.agentId), {
      taken: [...byName.keys(), ...BUILTIN_TOOL_IDS],
      report: () => undefined,
    })
    const { allowedWorkspaceTools } = definition
    const allowed = sourced.filter(({ name }) => allowedWorkspaceTools?.includes(name) ?? true)
    const denied = turn.state.head.run?.rules.tools ?? {}
    return [...byName.values(), ...allowed].filter(
      ({ name }) => !Object.hasOwn(denied, name) || denied[name] !== 'deny',
    )
  }
  const turn = async (context: TurnContext): Promise<TurnDefaults> => {
    const agentContext = services.agentContext(context)
    await services.prepare(agentContext.requestContext)
    const cwd = services.cwd(agentContext.requestContext)
    const own = agent instanceof Agent ? await agent.instructions(agentContext) : undefined
    return {
      instructions: [own, definition.instructions].filter(Boolean).join('\n\n'),
      ...(cwd === undefined ? {} : { cwd }),
      ...(note.modelId === '' ? {} : { model: note.modelId }),
      ...(agent === undefined || agent instanceof Agent ? {} : { maxSteps: definition.maxSteps ?? DEFAULT_MAX_STEPS }),
    }
  }
  return { driver, name: definition.name, tools, turn }
}

/** Returns the tools of the harness that the definition names. */
async function lent(
  core: HarnessCore,
  { allowedHarnessTools = [], id }: HarnessSubagent,
  services: ThreadServices,
  context: AgentContext,
): Promise<readonly RunnableTool[]> {
  if (allowedHarnessTools.length === 0) return []
  const builtin = services.builtinTools().filter(({ name }) => LENDABLE.has(name))
  const all = [...(await core.agents.sharedTools(context, services.decorate)), ...builtin]
  return allowedHarnessTools.map((name) => {
    const found = all.find((tool) => tool.name === name)
    if (found !== undefined) return found
    throw new InspanError(
      'invalid-input',
      `Subagent "${id}" allows the tool "${name}", which the harness does not have.`,
      {
        hint: `\`allowedHarnessTools\` can name: ${all.map((tool) => tool.name).join(', ')}.`,
      },
    )
  })
}

function driverFor(
  core: HarnessCore,
  definition: HarnessSubagent,
  { agentId, modelId }: ChildNote,
  parentAgent: HarnessAgent,
): AgentDriver {
  const { agent, maxSteps, stopWhen } = definition
  if (agent !== undefined && !(agent instanceof Agent)) return agent
  const stop = stopWhen === undefined ? {} : { stopWhen }
  const options = agent?.options ?? { id: agentId, model: modelOf(definition, modelId, parentAgent) }
  const steps = maxSteps ?? agent?.options.maxSteps ?? DEFAULT_MAX_STEPS
  return driverOf(new Agent({ ...options, ...stop, maxSteps: steps }), core.models, core.contexts)
}

function modelOf(
  { id }: HarnessSubagent,
  modelId: string,
  parent: HarnessAgent,
): ModelInput | NonNullable<Agent['options']['model']> {
  if (modelId !== '') return modelId
  if (parent instanceof Agent) return parent.options.model
  throw new InspanError('invalid-input', `Subagent "${id}" has no model.`, {
    hint: 'Give its definition a `defaultModelId`.',
  })
}
