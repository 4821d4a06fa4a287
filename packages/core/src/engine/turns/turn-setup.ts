import type { JsonObject } from '@inspan/protocol'
import type { TurnDefaults } from '@inspan/protocol/driver'
import { checkTurnDefaults } from '@inspan/protocol/internal'
import type { ThreadState } from '@inspan/protocol/log'
import type { RuntimeAgent, TurnContext } from './active-run.ts'
import type { RunnableTool } from '../calls/runnable-tool.ts'

export interface TurnSetupOptions {
  readonly agent: RuntimeAgent
  readonly runId: string
  readonly turnId: string
  readonly state: () => ThreadState
}

/**
 * Holds the tools, model and instructions of an agent in a turn. Where these are functions, they are called again
 * before every step, so that a change of the thread applies from the next step on.
 */
export class TurnSetup {
  readonly #options: TurnSetupOptions
  #tools: readonly RunnableTool[] = []
  #defaults: TurnDefaults = {}

  constructor(options: TurnSetupOptions) {
    this.#options = options
  }

  get tools(): readonly RunnableTool[] {
    return this.#tools
  }

  get defaults(): TurnDefaults {
    return this.#defaults
  }

  get requestContext(): JsonObject | undefined {
    return this.#options.state().head.run?.requestContext
  }

  async refresh(): Promise<TurnDefaults> {
    const { agent, runId, state, turnId } = this.#options
    const { requestContext } = this
    const context: TurnContext = { state: state(), runId, turnId, requestContext }
    const { tools = [], turn = {} } = agent
    this.#tools = typeof tools === 'function' ? await tools(context) : tools
    const own = typeof turn === 'function' ? await turn(context) : turn
    checkTurnDefaults(`a turn of agent "${agent.driver.id}"`, own)
    // The submission that started the run has precedence.
    this.#defaults = { ...own, ...context.state.head.run?.turn }
    return this.#defaults
  }
}
