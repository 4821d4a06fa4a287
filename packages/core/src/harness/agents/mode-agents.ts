import {
  Agent,
  nativeDriver,
  resolveModel,
  runnableTools,
  type AgentContext,
  type DecorateContext,
  type RequestContext,
  type ToolsInput,
} from '@inspan/agent'
import { InspanError, type JsonValue } from '@inspan/protocol'
import type {
  AgentDriver,
  Budget,
  RunnableTool,
  ToolSource,
  ToolSourceContext,
  TurnDefaults,
} from '@inspan/protocol/driver'
import { defined } from '@inspan/protocol/internal'
import type { ThreadState } from '@inspan/protocol/log'
import type { Store } from '@inspan/protocol/store'
import { threadToolSearch, toolsSentBeforeFork, type RuntimeAgent, type TurnContext } from '../../engine/index.ts'
import { defaultModeOf } from '../checks/check-config.ts'
import type { HarnessAgent, HarnessConfig, HarnessMode } from '../harness-config.ts'
import type { ModelCatalogue } from '../models/model-catalogue.ts'
import type { HarnessSources } from './harness-sources.ts'
import type { RunContexts } from './run-contexts.ts'
import { boundToThread } from '../tools/thread-tools.ts'

/** What a thread provides for the agents that take turns in it. */
export interface ThreadServices {
  readonly decorate: DecorateContext
  /** Called before tools are resolved: makes what they find in the request context. `workspace`: the agent's own. */
  readonly prepare: (requestContext: RequestContext, workspace?: object) => Promise<void>
  /** Returns the sources that come with the request, after `prepare`. */
  readonly sources: (requestContext: RequestContext) => readonly ToolSource[]
  /** Returns the browser for agents that have none of their own, if it has tools. */
  readonly browser: (requestContext: RequestContext) => Promise<ToolSource | undefined>
  /** Returns the folder that the agents of the request work in, after `prepare`. */
  readonly cwd: (requestContext: RequestContext) => string | undefined
  /** Returns the folder that a coding agent works in if the thread has one of its own. */
  readonly ownFolder: () => string | undefined
  readonly builtinTools: () => readonly RunnableTool[]
  /** Returns the thread's own tool with this id, whether or not it is offered. */
  readonly threadTool: (id: string) => RunnableTool | undefined
  readonly agentContext: (turn: TurnContext) => AgentContext
  /** Keeps a setting with the thread. */
  readonly keepSetting: (key: string, value: JsonValue) => Promise<void>
}

/**
 * The agents behind the modes. Instructions and tools of a turn are put together from those of the agent, the harness
 * and the mode, anew before every step, so that a change of mode holds from the next step on.
 */
export class ModeAgents {
  readonly #config: HarnessConfig
  readonly #store: Store
  readonly #sources: HarnessSources
  readonly #shared: HarnessAgent | undefined
  readonly #drivers = new Map<string, { readonly agent: HarnessAgent; readonly driver: AgentDriver }>()

  constructor(
    config: HarnessConfig,
    models: Pick<ModelCatalogue, 'resolve'>,
    contexts: Pick<RunContexts, 'find'>,
    store: Store,
    sources: HarnessSources,
  ) {
    this.#config = config
    this.#store = store
    this.#sources = sources
    this.#shared = config.agent ?? ownAgent(config)
    for (const agent of [this.#shared, ...config.modes.map((mode) => mode.agent)]) {
      if (agent === undefined) continue
      const known = this.#drivers.get(agent.id)
      if (known !== undefined && known.agent !== agent) {
        throw new InspanError('invalid-input', `Two different agents have the id "${agent.id}".`, {
          hint: 'A thread remembers by its id which agent said what: give each its own.',
        })
      }
      if (known === undefined) this.#drivers.set(agent.id, { agent, driver: driverOf(agent, models, contexts) })
    }
  }

  get all(): readonly HarnessAgent[] {
    return [...this.#drivers.values()].map(({ agent }) => agent)
  }

  of(mode: HarnessMode): HarnessAgent {
    const agent = mode.agent ?? this.#shared
    if (agent !== undefined) return agent
    throw new InspanError('misuse', `Mode "${mode.id}" has no agent.`)
  }

  driver(agentId: string): AgentDriver | undefined {
    return this.#drivers.get(agentId)?.driver
  }

  runtimeAgent(agentId: string, services: ThreadServices): RuntimeAgent | undefined {
    const known = this.#drivers.get(agentId)
    if (known === undefined) return undefined
    const { agent, driver } = known
    const runnable = toolsMadeOnce(services.decorate)
    return {
      driver,
      ...(agent instanceof Agent ? { name: agent.name } : {}),
      tools: async (turn) => {
        const mode = this.modeOf(turn.state)
        const context = services.agentContext(turn)
        await services.prepare(context.requestContext, workspaceOf(agent))
        const own = mode.tools === undefined ? await agentTools(agent, context, services.decorate) : []
        const shared = await this.#sharedTools(context)
        const theirs = [...runnable(mode.tools), ...runnable(mode.additionalTools), ...own, ...runnable(shared)]
        const bound = theirs.map((tool) => boundToThread(tool, services.threadTool))
        // A foreign agent has file tools and a shell of its own.
        const more = agent instanceof Agent ? await sourcesFor(agent, services, context.requestContext) : []
        const sourced = await this.#sources.tools(mode, agent, sourceContextOf(turn, agentId), bound, more)
        const theirOwn = this.#searchable([...bound, ...sourced], turn, services)
        return offeredTools([...theirOwn, ...services.builtinTools()], turn.state, this.#store)
      },
      turn: (turn) => this.#turn(agent, turn, services),
    }
  }

  /** Returns the budget of a run in the thread's mode. */
  budgetOf(state: ThreadState): Budget | undefined {
    const mode = this.modeOf(state)
    return mode.budget ?? budgetOf(this.of(mode))
  }

  /** Returns the tools that the harness adds to those of agents and modes. */
  async sharedTools(context: AgentContext, decorate?: DecorateContext): Promise<readonly RunnableTool[]> {
    return runnableTools((await this.#sharedTools(context)) ?? {}, decorate)
  }

  /** True when costs are wanted, or an agent or a mode has a budget in money. Prices are looked up only then. */
  get needPrices(): boolean {
    if (this.#config.estimateCosts === true) return true
    const ofAgents = [...this.#drivers.values()].map(({ agent }) => budgetOf(agent))
    return [...ofAgents, ...this.#config.modes.map(({ budget }) => budget)].some((budget) => budget?.usd !== undefined)
  }

  modeOf(state: ThreadState): HarnessMode {
    const { mode } = state.head
    return this.#config.modes.find(({ id }) => id === mode) ?? defaultModeOf(this.#config)
  }

  /** With a tool search, the model is offered the search and what it has found before. */
  #searchable(tools: readonly RunnableTool[], turn: TurnContext, services: ThreadServices): readonly RunnableTool[] {
    const { toolSearch } = this.#config
    if (toolSearch === undefined) return tools
    const report = (problem: string): void => this.#sources.reportOnce(problem)
    return threadToolSearch(tools, toolSearch, turn.state, services.keepSetting, report)
  }

  async #sharedTools({ requestContext }: AgentContext): Promise<ToolsInput | undefined> {
    const { tools } = this.#config
    return typeof tools === 'function' ? tools({ requestContext }) : tools
  }

  async #turn(agent: HarnessAgent, turn: TurnContext, services: ThreadServices): Promise<TurnDefaults> {
    const mode = this.modeOf(turn.state)
    const { model } = turn.state.head
    const context = services.agentContext(turn)
    await services.prepare(context.requestContext, workspaceOf(agent))
    const folder = agent instanceof Agent ? undefined : services.ownFolder()
    const cwd = folder ?? services.cwd(context.requestContext)
    const own = agent instanceof Agent ? await agent.instructions(context) : undefined
    const ofFiles = this.#sources.instructions(agent)
    const instructions = [own, this.#config.instructions, mode.instructions, ...ofFiles].filter(Boolean).join('\n\n')
    const budget = mode.budget ?? budgetOf(agent)
    return {
      ...defined({ cwd, budget }),
      ...(instructions === '' ? {} : { instructions }),
      ...(model === null || model === '' || decidesItself(agent) ? {} : { model }),
    }
  }
}

/** A function that chooses the model decides; it finds the session's choice in the request context. */
function decidesItself(agent: HarnessAgent): boolean {
  return agent instanceof Agent && typeof agent.options.model === 'function'
}

/**
 * Returns what makes tools runnable. It returns the same ones for the same input every time: an approved call is
 * recognised by the definition of its tool.
 */
export function toolsMadeOnce(decorate: DecorateContext): (tools: ToolsInput | undefined) => RunnableTool[] {
  const made = new WeakMap<object, RunnableTool[]>()
  return (tools) => {
    if (tools === undefined) return []
    const ready = made.get(tools) ?? runnableTools(tools, decorate)
    made.set(tools, ready)
    return ready
  }
}

export function sourceContextOf({ requestContext, runId, state }: TurnContext, agentId: string): ToolSourceContext {
  return { threadId: state.head.stream, runId, agentId, ...defined({ requestContext }) }
}

/** Returns the workspace that an agent brings itself. */
export function workspaceOf(agent: HarnessAgent): object | undefined {
  return agent instanceof Agent ? agent.options.workspace : undefined
}

async function sourcesFor(
  { options }: Agent,
  services: ThreadServices,
  requestContext: RequestContext,
): Promise<readonly ToolSource[]> {
  const browser = options.browser ?? (await services.browser(requestContext))
  return [...services.sources(requestContext), ...(browser === undefined ? [] : [browser])]
}

/** Returns the agent's own budget; a foreign agent has none. */
function budgetOf(agent: HarnessAgent): Budget | undefined {
  return agent instanceof Agent ? agent.options.budget : undefined
}

/** Returns the agent for modes without one; it has only a model. `undefined` when every mode has an agent. */
function ownAgent(config: HarnessConfig): HarnessAgent | undefined {
  if (config.modes.every((mode) => mode.agent !== undefined)) return undefined
  return new Agent({ id: config.id, model: defaultModeOf(config).defaultModelId ?? '' })
}

/**
 * Returns the driver of an agent. A model id is resolved by the harness first, then by the agent itself. A function
 * that chooses the model gets the same context as those that make tools and instructions.
 */
export function driverOf(
  agent: HarnessAgent,
  models: Pick<ModelCatalogue, 'resolve'>,
  contexts: Pick<RunContexts, 'find'>,
): AgentDriver {
  if (!(agent instanceof Agent)) return agent
  const { model, resolveModel: own } = agent.options
  return nativeDriver({
    ...agent.options,
    model:
      typeof model === 'function'
        ? (context) => model({ ...context, requestContext: contexts.find(context.runId) ?? context.requestContext })
        : model,
    resolveModel: async (modelId) => (await models.resolve(modelId)) ?? resolveModel(modelId, own),
  })
}

async function agentTools(
  agent: HarnessAgent,
  context: AgentContext,
  decorate: DecorateContext,
): Promise<readonly RunnableTool[]> {
  return agent instanceof Agent ? agent.tools(context, decorate) : []
}

/**
 * Returns one tool per name; the user's come before ours. A tool that a rule denies altogether is not offered, except
 * in a fork whose parent was offered it: there the deny only blocks calls, so that the fork's requests begin like the
 * parent's last one.
 */
async function offeredTools(
  tools: readonly RunnableTool[],
  state: ThreadState,
  store: Store,
): Promise<readonly RunnableTool[]> {
  const denied = state.head.run?.rules.tools ?? {}
  const isDenied = ({ name }: RunnableTool): boolean => Object.hasOwn(denied, name) && denied[name] === 'deny'
  const sent = tools.some(isDenied) ? await toolsSentBeforeFork(store, state) : new Set()
  const byName = new Map<string, RunnableTool>()
  for (const tool of tools) {
    if ((!isDenied(tool) || sent.has(tool.name)) && !byName.has(tool.name)) byName.set(tool.name, tool)
  }
  return [...byName.values()]
}
