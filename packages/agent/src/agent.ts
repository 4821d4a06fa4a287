import {
  streamTurn,
  type AgentDriver,
  type AgentEvent,
  type Budget,
  type Host,
  type RunnableTool,
  type Turn,
} from '@evener/protocol'
import { resolveDynamic, type AgentContext, type Dynamic } from './agent-context.ts'
import { checkAgentOptions } from './check-agent.ts'
import { nativeDriver, type NativeDriverOptions } from './native-driver.ts'
import { runnableTools, type ToolsInput } from './runnable-tool.ts'
import { reportSchema } from './schema-report.ts'
import type { DecorateContext } from './tool-context.ts'

export interface AgentOptions extends NativeDriverOptions {
  /** What people call it. Default: its `id`. */
  readonly name?: string
  readonly description?: string
  /** Named by their keys, or as a list by their ids. A function is called before every step. */
  readonly tools?: Dynamic<ToolsInput>
  /** What a run may use up: tokens, dollars, milliseconds. */
  readonly budget?: Budget
}

/** A model with instructions and tools. What it does and says lives in the thread it works on, not in here. */
export class Agent {
  readonly id: string
  readonly name: string
  readonly description: string | undefined
  readonly options: AgentOptions

  constructor(options: AgentOptions) {
    checkAgentOptions(options)
    this.id = options.id
    this.name = options.name ?? options.id
    this.description = options.description
    this.options = options
    reportSchema(options.output?.schema, `the output of agent "${options.id}"`)
  }

  /** What takes its turns, for programs that bring their own host. */
  driver(): AgentDriver {
    return nativeDriver(this.options)
  }

  /** One turn without a thread: what the host says is all the agent knows, and nothing is kept. */
  stream(turn: Turn, host: Host): AsyncGenerator<AgentEvent, void> {
    return streamTurn(this.driver(), turn, host)
  }

  instructions(context: AgentContext): Promise<string | undefined> {
    return resolveDynamic(this.options.instructions, context)
  }

  /** The tools as the engine carries them out. */
  async tools(context: AgentContext, decorate?: DecorateContext): Promise<RunnableTool[]> {
    return runnableTools((await resolveDynamic(this.options.tools, context)) ?? [], decorate)
  }
}
