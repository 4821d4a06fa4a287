import { InspanError } from '@inspan/protocol'
import type {
  AgentHarness,
  AgentHooks,
  ChatMessage,
  ChatMessagePart,
  ChatStreamResult,
  ChatToolResultInfo,
  HarnessAgentConfig,
  HarnessAgentOptions,
  HarnessCapabilities,
  HarnessFactory,
  McpServerInfo,
  ModelConnectivityInfo,
  StreamOptions,
  Unsubscribe,
} from '@inspan/protocol/chat'
import type { ModelTurn } from './script.ts'
import { ScriptedTurnPlay, type PlayedThread } from './scripted-turn-play.ts'

export interface ScriptedHarnessOptions {
  /** What the agents answer, one entry per model call, whichever session asks. */
  readonly script: readonly ModelTurn[]
  /** Tools that the harness runs, by name. Calls of other tools fail, unless the agent's config has them. */
  readonly tools?: Readonly<Record<string, (args: Record<string, unknown>) => unknown>>
}

interface ScriptedAgent {
  config: HarnessAgentConfig
  hooks: AgentHooks | undefined
}

type PlayedThreads = Map<string, Map<string, PlayedThread>>

const CAPABILITIES: HarnessCapabilities = {
  approvals: 'all',
  batchApprovals: true,
  goesOnAfterDecline: true,
  consumerTools: true,
  mcp: false,
  skills: false,
  toolSearch: false,
  instructions: 'replace',
  attachments: 'all',
  maxSteps: true,
  // It refuses every budget.
  usage: false,
  toolResultHook: true,
  steer: false,
  compaction: false,
  limits: false,
  wire: false,
  effort: [],
}

/**
 * Makes harnesses that play a script, for tests of programs that use a manager: no model, no process, no file. Threads
 * are kept by the factory, so that a second harness over the same folder has them back.
 */
export class ScriptedHarnessFactory implements HarnessFactory {
  readonly protocolVersion = 1
  readonly #options: ScriptedHarnessOptions
  readonly #roots = new Map<string, PlayedThreads>()
  readonly #next: () => ModelTurn

  constructor(options: ScriptedHarnessOptions) {
    this.#options = options
    const left = options.script.flatMap((turn) =>
      typeof turn.repeat === 'number' ? Array.from({ length: turn.repeat }, () => turn) : [turn],
    )
    this.#next = () => {
      const [turn] = left
      if (turn === undefined) throw new InspanError('misuse', 'The script has no answer left for this call.')
      if (turn.repeat !== true) left.shift()
      return turn
    }
  }

  async create(storageRootFolder: string): Promise<AgentHarness> {
    const threads: PlayedThreads = this.#roots.get(storageRootFolder) ?? new Map<string, Map<string, PlayedThread>>()
    this.#roots.set(storageRootFolder, threads)
    return new ScriptedHarness(threads, this.#next, this.#options.tools ?? {})
  }
}

class ScriptedHarness implements AgentHarness {
  readonly id = 'scripted'
  readonly protocolVersion = 1
  readonly extensions: object = {}
  readonly #threads: PlayedThreads
  readonly #nextTurn: () => ModelTurn
  readonly #tools: NonNullable<ScriptedHarnessOptions['tools']>
  readonly #agents = new Map<string, ScriptedAgent>()
  readonly #playing = new Map<string, ScriptedTurnPlay>()

  constructor(threads: PlayedThreads, nextTurn: () => ModelTurn, tools: NonNullable<ScriptedHarnessOptions['tools']>) {
    this.#threads = threads
    this.#nextTurn = nextTurn
    this.#tools = tools
  }

  async createAgent(
    agentId: string,
    _projectRoot: string,
    _connectivity: ModelConnectivityInfo,
    config: HarnessAgentConfig,
    { hooks }: HarnessAgentOptions = {},
  ): Promise<void> {
    checkConfig(config)
    this.#agents.set(agentId, { config, hooks })
    if (!this.#threads.has(agentId)) this.#threads.set(agentId, new Map())
  }

  async updateAgent(
    agentId: string,
    _connectivity: ModelConnectivityInfo,
    config: HarnessAgentConfig,
    { hooks }: HarnessAgentOptions = {},
  ): Promise<void> {
    checkConfig(config)
    Object.assign(this.#agent(agentId), { config, hooks })
  }

  async destroyAgent(agentId: string): Promise<boolean> {
    this.#agent(agentId)
    this.#threads.delete(agentId)
    return this.#agents.delete(agentId)
  }

  getMcpServerInfo(agentId: string): McpServerInfo[] {
    this.#agent(agentId)
    return []
  }

  async reconnectMcpServer(agentId: string): Promise<void> {
    this.#agent(agentId)
    throw unsupported('MCP servers')
  }

  getCapabilities(agentId: string): HarnessCapabilities {
    this.#agent(agentId)
    return CAPABILITIES
  }

  async createThread(agentId: string): Promise<string> {
    return this.#added(agentId, { messages: [], remembered: new Set() })
  }

  async destroyThread(agentId: string, threadId: string): Promise<void> {
    this.#thread(agentId, threadId)
    this.#playing.get(threadId)?.cancel()
    this.#threads.get(agentId)?.delete(threadId)
  }

  async cloneThread(agentId: string, threadId: string): Promise<string> {
    const { messages } = this.#thread(agentId, threadId)
    return this.#added(agentId, { messages: [...messages], remembered: new Set() })
  }

  async compactThread(agentId: string, threadId: string): Promise<string> {
    this.#thread(agentId, threadId)
    throw unsupported('compacting a session')
  }

  async getThreadIds(agentId: string): Promise<string[]> {
    this.#agent(agentId)
    return [...(this.#threads.get(agentId)?.keys() ?? [])]
  }

  async getMessages(agentId: string, threadId: string): Promise<ChatMessage[]> {
    return [...this.#thread(agentId, threadId).messages]
  }

  async addMessages(agentId: string, threadId: string, messages: ChatMessage[]): Promise<void> {
    const given = messages.map((message) => ({ createdAt: new Date(), ...message }))
    this.#thread(agentId, threadId).messages.push(...given)
  }

  async clearMessages(agentId: string, threadId: string): Promise<void> {
    this.#thread(agentId, threadId).messages.length = 0
  }

  async stream(
    agentId: string,
    threadId: string,
    input: string | ChatMessagePart[],
    options: StreamOptions = {},
  ): Promise<ChatStreamResult> {
    const thread = this.#thread(agentId, threadId)
    checkInput(input)
    checkOptions(options)
    if (this.#playing.has(threadId)) throw new InspanError('conflict', 'A turn of this thread is not over yet.')
    const { config, hooks } = this.#agent(agentId)
    const consumerTools = new Set(config.tools?.map(({ name }) => name))
    thread.messages.push({ id: crypto.randomUUID(), role: 'user', content: input, createdAt: new Date() })
    const play = new ScriptedTurnPlay({ thread, options, consumerTools, hooks, tools: this.#tools })
    this.#playing.set(threadId, play)
    void play.run(this.#nextTurn).finally(() => this.#playing.delete(threadId))
    return play.result
  }

  async cancelTurn(agentId: string, threadId: string): Promise<void> {
    this.#thread(agentId, threadId)
    this.#playing.get(threadId)?.cancel()
  }

  async submitToolResult(agentId: string, threadId: string, result: ChatToolResultInfo): Promise<void> {
    this.#play(agentId, threadId).submit(result)
  }

  async approveToolCall(
    agentId: string,
    threadId: string,
    toolCallId: string,
    { remember = false }: { readonly remember?: boolean } = {},
  ): Promise<void> {
    this.#play(agentId, threadId).settle(toolCallId, remember ? 'remember' : 'approve')
  }

  async declineToolCall(agentId: string, threadId: string, toolCallId: string): Promise<void> {
    this.#play(agentId, threadId).settle(toolCallId, 'decline')
  }

  /** There is nothing to report beside the turns. */
  onTelemetry(): Unsubscribe {
    return () => undefined
  }

  onLog(): Unsubscribe {
    return () => undefined
  }

  async shutdown(): Promise<void> {
    for (const play of this.#playing.values()) play.cancel()
    this.#agents.clear()
  }

  #added(agentId: string, thread: PlayedThread): string {
    this.#agent(agentId)
    const id = crypto.randomUUID()
    this.#threads.get(agentId)?.set(id, thread)
    return id
  }

  #agent(agentId: string): ScriptedAgent {
    const agent = this.#agents.get(agentId)
    if (agent !== undefined) return agent
    throw new InspanError('not-found', `The harness has no agent "${agentId}".`)
  }

  #thread(agentId: string, threadId: string): PlayedThread {
    this.#agent(agentId)
    const thread = this.#threads.get(agentId)?.get(threadId)
    if (thread !== undefined) return thread
    throw new InspanError('not-found', `Agent "${agentId}" has no thread "${threadId}".`)
  }

  #play(agentId: string, threadId: string): ScriptedTurnPlay {
    this.#thread(agentId, threadId)
    const play = this.#playing.get(threadId)
    if (play !== undefined) return play
    throw new InspanError('conflict', 'No turn of this thread is open.')
  }
}

function unsupported(what: string): InspanError {
  return new InspanError('unsupported', `The harness "scripted" does not support ${what}.`)
}

function checkConfig(config: HarnessAgentConfig): void {
  const { mcpServers = {}, skills = [] } = config
  if ('toolSearch' in config) throw unsupported('searching for tools (`toolSearch`)')
  if (Object.keys(mcpServers).length > 0) throw unsupported('MCP servers (`mcpServers`)')
  if (skills.length > 0) throw unsupported('skills (`skills`)')
}

function checkOptions(options: StreamOptions): void {
  for (const name of ['operationId', 'whenBusy', 'model', 'effort', 'budget', 'onLimit'] as const) {
    if (options[name] !== undefined) throw unsupported(`the option \`${name}\``)
  }
}

function checkInput(input: string | ChatMessagePart[]): void {
  const isGood =
    input.length > 0 &&
    (typeof input === 'string' || input.every(({ type }) => type === 'text' || type === 'image' || type === 'file'))
  if (!isGood) throw new InspanError('invalid-input', 'A message is a text, or texts, images and files.')
}
