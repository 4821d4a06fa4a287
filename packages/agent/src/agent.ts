import type { AgentEvent } from '@inspan/protocol'
import {
  streamTurn,
  type AgentDriver,
  type Budget,
  type Host,
  type RunnableTool,
  type ToolSource,
  type Turn,
} from '@inspan/protocol/driver'
import { resolveDynamic, type AgentContext, type Dynamic } from './agent-context.ts'
import { checkAgentOptions } from './check-agent.ts'
import { nativeDriver, type NativeDriverOptions } from './native-driver.ts'
import { runnableTools, type ToolsInput } from './runnable-tool.ts'
import { reportSchema } from './schema-report.ts'
import type { DecorateContext } from './tool-context.ts'

export interface AgentOptions extends NativeDriverOptions {
  /** The display name. An agent with only a name has that as its id. Default: its `id`. */
  readonly name?: string
  /** What the agent is for. */
  readonly description?: string
  /** Keys are the names; tools of a list are named by their ids. A function is called before every step. */
  readonly tools?: Dynamic<ToolsInput>
  /** Where further tools come from. The code that created a source closes it. */
  readonly toolSources?: readonly ToolSource[]
  /** The browser whose tools the agent gets. Overrides that of a harness. */
  readonly browser?: ToolSource
  /** A `Memory`, which replaces older messages in requests to the model. Overrides that of a harness. */
  readonly memory?: object
  /** The workspace it works in. Overrides that of a harness. The code that created it closes it. */
  readonly workspace?: object
  /** The limits of a run in `tokens`, `usd` or `ms`, with a warning at `warnAt` (0.8). */
  readonly budget?: Budget
}

/** What an agent is made from: `id` may be left out where there is a `name`. */
export type AgentInput = AgentOptions | (Omit<AgentOptions, 'id' | 'name'> & { readonly name: string })

/** A model with instructions and tools. Keeps no conversation: everything it says and does is in the thread. */
export class Agent {
  readonly id: string
  readonly name: string
  readonly description: string | undefined
  readonly options: AgentOptions

  constructor(input: AgentInput) {
    const options = withId(input)
    checkAgentOptions(options)
    this.id = options.id
    this.name = options.name ?? options.id
    this.description = options.description
    this.options = options
    reportSchema(options.output?.schema, `the output of agent "${options.id}"`)
  }

  /** Returns the driver that takes its turns, for programs with their own host. */
  driver(): AgentDriver {
    return nativeDriver(this.options)
  }

  /** Runs one turn without a thread: the agent only knows what the host passes in, and nothing is stored. */
  stream(turn: Turn, host: Host): AsyncGenerator<AgentEvent, void> {
    return streamTurn(this.driver(), turn, host)
  }

  instructions(context: AgentContext): Promise<string | undefined> {
    return resolveDynamic(this.options.instructions, context)
  }

  /** Returns the tools as the engine carries them out. */
  async tools(context: AgentContext, decorate?: DecorateContext): Promise<RunnableTool[]> {
    return runnableTools((await resolveDynamic(this.options.tools, context)) ?? [], decorate)
  }
}

/** Leaves what is no object at all to the check. */
function withId(input: AgentInput): AgentOptions {
  if (typeof input !== 'object' || input === null || 'id' in input || typeof input.name !== 'string') {
    return input as AgentOptions
  }
  return { ...input, id: input.name }
}
