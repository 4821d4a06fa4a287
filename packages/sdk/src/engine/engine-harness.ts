import { isAbsolute, join } from 'node:path'
import { InspanError, type PermissionRules } from '@inspan/protocol'
import {
  fromChatContent,
  McpServerStatus,
  type AgentHarness,
  type AgentLogCallback,
  type ChatMessage,
  type ChatMessagePart,
  type ChatToolResultInfo,
  type HarnessAgentConfig,
  type HarnessAgentOptions,
  type HarnessCapabilities,
  type McpAuth,
  type McpServerInfo,
  type ModelConnectivityInfo,
  type OperationStatus,
  type StreamOptions,
  type TelemetryEventCallback,
  type Unsubscribe,
  type WireCommunicationEvent,
  type WireCommunicationEventCallback,
} from '@inspan/protocol/chat'
import type { AgentDriver, ToolSource } from '@inspan/protocol/driver'
import { asError } from '@inspan/protocol/internal'
import type { ThreadState } from '@inspan/protocol/log'
import type { Store, ThreadInfo } from '@inspan/protocol/store'
import { SqliteStore } from '@inspan/core'
import { createThread, ThreadRegistry, type PriceOf, type ProcessOwner, type ThreadRuntime } from '@inspan/core/engine'
import type { ChatTurn } from '../chat-turn.ts'
import { AgentSDKError, throwIfAborted, unsupported } from '../errors.ts'
import { LogBus, ScopedBus, TelemetryBus } from '../event-bus.ts'
import { AgentServers } from './agent-servers.ts'
import { IdentityRows } from './identity-rows.ts'
import { engineAgent, type EngineSetup, type EngineAgent, type MadeAgent } from './engine-agent.ts'
import { EngineThread } from './engine-thread.ts'
import { leftThreads, readChatMessages, threadsOf } from './read-thread.ts'
import { windowOf } from '../models/models.ts'

/** Settings that every harness of ours takes. */
export interface EngineOptions {
  /** Where conversations are kept. A store that you pass stays open. Default: `inspan.db` in the storage folder. */
  readonly store?: Store
  /** Where agents are kept. Default: in the store if several machines share it, otherwise in `agents/<id>.json`. */
  readonly identities?: 'store' | 'files'
  /** Rules for the tools of all agents. Nothing overrides their denies. */
  readonly rules?: PermissionRules
  /** Milliseconds after which an unanswered approval counts as declined. Default: no limit. */
  readonly approvalTimeout?: number
  /** Returns the price of a model's tokens, so that the usage of an operation has its cost. */
  readonly priceOf?: PriceOf
  /** For tests. Default: the system's clock. */
  readonly now?: () => number
  /** Makes the ids of threads, turns and messages. Default: UUIDs. */
  readonly newId?: () => string
}

export interface EngineHarnessOptions extends EngineOptions {
  readonly id: string
  readonly storageRootFolder: string
  /** Makes the agent that takes the turns. */
  readonly makeAgent: (setup: EngineSetup, wire: WireBus) => MadeAgent | Promise<MadeAgent>
}

/** Where a harness reports what it sends and gets. */
export type WireBus = Pick<ScopedBus<WireCommunicationEvent>, 'emit' | 'isHeard'>

/** Any agent of ours, ready for `createAgentManager`: agents are configurations, chat sessions are threads. */
export class EngineHarness implements AgentHarness {
  readonly id: string
  readonly protocolVersion = 1
  readonly extensions: object = {}
  /** Absent: the manager keeps agents in files. */
  readonly identities: IdentityRows | undefined
  readonly #options: EngineHarnessOptions
  readonly #store: Store
  readonly #isOwnStore: boolean
  readonly #registry: ThreadRegistry
  readonly #doorKey = crypto.randomUUID()
  /** Threads in which something waits or was interrupted when the harness was opened, by their resource. */
  readonly #left: ReadonlyMap<string, readonly string[]>
  readonly #agents = new Map<string, EngineAgent>()
  readonly #threads = new Map<string, Map<string, EngineThread>>()
  readonly #servers = new Map<string, AgentServers>()
  readonly #logs: LogBus
  readonly #telemetry: TelemetryBus
  readonly #wire: ScopedBus<WireCommunicationEvent>
  #isClosed = false

  private constructor(options: EngineHarnessOptions, store: Store, left: ReadonlyMap<string, readonly string[]>) {
    const { now = Date.now } = options
    this.id = options.id
    this.#options = options
    this.#store = store
    this.#isOwnStore = options.store === undefined
    this.#registry = ThreadRegistry.of(store)
    const { identities = store.join === undefined ? 'files' : 'store' } = options
    const owner = (): Promise<ProcessOwner> => this.#registry.owner(this)
    this.identities = identities === 'store' ? new IdentityRows(store, options.id, owner) : undefined
    this.#left = left
    this.#logs = new LogBus(now)
    const onThrow = (error: unknown): void => this.#logs.log('error', 'A listener threw an error.', { error })
    this.#telemetry = new TelemetryBus(now, onThrow)
    this.#wire = new ScopedBus(onThrow)
  }

  static async open(options: EngineHarnessOptions): Promise<EngineHarness> {
    const store = options.store ?? new SqliteStore({ url: join(options.storageRootFolder, 'inspan.db') })
    await store.open()
    const harness = new EngineHarness(options, store, await leftThreads(store))
    await harness.#registry.owner(harness)
    harness.#registry.serve(harness, { door: options.id, open: (threadId) => harness.#openDue(threadId) })
    return harness
  }

  async createAgent(
    agentId: string,
    projectRoot: string,
    connectivity: ModelConnectivityInfo,
    config: HarnessAgentConfig,
    options: HarnessAgentOptions = {},
  ): Promise<void> {
    this.#assertOpen()
    if (this.#agents.has(agentId)) {
      throw new AgentSDKError('AGENT_ALREADY_EXISTS', `The harness has an agent "${agentId}" already.`)
    }
    if (!isAbsolute(projectRoot)) throw new AgentSDKError('INVALID_OPTIONS', `${projectRoot} is not an absolute path.`)
    const agent = await this.#make(agentId, projectRoot, connectivity, config, options)
    throwIfAborted(options.abortSignal)
    this.#agents.set(agentId, agent)
    try {
      await this.#connect(agentId, config)
      await this.#takeUp(agentId)
    } catch (error) {
      await this.#release(agentId)
      this.#agents.delete(agentId)
      throw error
    }
  }

  async updateAgent(
    agentId: string,
    connectivity: ModelConnectivityInfo,
    config: HarnessAgentConfig,
    options: HarnessAgentOptions = {},
  ): Promise<void> {
    const { projectRoot } = this.#agent(agentId).setup
    const agent = await this.#make(agentId, projectRoot, connectivity, config, options)
    throwIfAborted(options.abortSignal)
    // A turn that is going on keeps the agent it began with.
    this.#agents.set(agentId, agent)
    await this.#connect(agentId, config)
  }

  async destroyAgent(agentId: string): Promise<boolean> {
    this.#agent(agentId)
    for (const threadId of await this.getThreadIds(agentId)) await this.destroyThread(agentId, threadId)
    await this.#release(agentId)
    return this.#agents.delete(agentId)
  }

  getMcpServerInfo(agentId: string): McpServerInfo[] {
    const { isForeign, setup } = this.#agent(agentId)
    if (!isForeign) return this.#servers.get(agentId)?.info() ?? []
    // A program connects to its servers itself and does not report on them.
    const { mcpServers = {} } = setup.config
    return Object.entries(mcpServers).map(([name, { enabled = true }]) => ({
      name,
      status: enabled ? McpServerStatus.Connecting : McpServerStatus.Disabled,
      tools: [],
    }))
  }

  async reconnectMcpServer(agentId: string, serverName: string): Promise<void> {
    await this.#serversOf(agentId, serverName).reconnect(serverName)
  }

  async refreshMcpAuth(agentId: string, serverName: string, auth: McpAuth): Promise<void> {
    await this.#serversOf(agentId, serverName).refreshAuth(serverName, auth)
  }

  getCapabilities(agentId: string): HarnessCapabilities {
    return this.#agent(agentId).capabilities
  }

  async createThread(agentId: string, named: { readonly id?: string; readonly title?: string } = {}): Promise<string> {
    this.#agent(agentId)
    const resourceId = this.#resourceOf(agentId)
    const info = await createThread(this.#store, { ...this.#newThread(), ...named, resourceId })
    return info.id
  }

  get store(): Store {
    return this.#store
  }

  /** Returns the agent of ours that a thread belongs to. */
  agentOfThread({ resourceId }: Pick<ThreadInfo, 'resourceId'>): string | undefined {
    return [...this.#agents.keys()].find((agentId) => this.#resourceOf(agentId) === resourceId)
  }

  /** Opens a thread for a server, which watches and drives it beside the SDK. */
  async openThread(agentId: string, threadId: string): Promise<ThreadRuntime> {
    return (await this.#thread(agentId, threadId)).runtime()
  }

  /** Returns the state of a thread. Opens nothing, takes nothing and resumes nothing. */
  readThread(threadId: string): Promise<ThreadState> {
    return this.#registry.read(threadId)
  }

  /** Drops what is known of a thread that was deleted by a command. */
  forgetThread(threadId: string): void {
    for (const threads of this.#threads.values()) threads.delete(threadId)
  }

  driverOf(agentId: string): AgentDriver {
    return this.#agent(agentId).runtimeAgent.driver
  }

  async destroyThread(agentId: string, threadId: string): Promise<void> {
    await this.#knownThread(agentId, threadId)
    await this.#threads.get(agentId)?.get(threadId)?.discard()
    await this.#registry.delete(threadId)
    this.#threads.get(agentId)?.delete(threadId)
  }

  async cloneThread(agentId: string, threadId: string): Promise<string> {
    await this.#knownThread(agentId, threadId)
    const resourceId = this.#resourceOf(agentId)
    return (await this.#registry.fork(threadId, { ...this.#newThread(), resourceId })).id
  }

  async compactThread(agentId: string, threadId: string): Promise<string> {
    const source = await this.#thread(agentId, threadId)
    const { ask } = this.#agent(agentId)
    if (ask === undefined) throw unsupported(this.id, 'compacting a session')
    const summary = await source.summarise((_role, ...question) => ask(threadId, ...question))
    const compacted = await this.cloneThread(agentId, threadId)
    try {
      await this.#threadOf(agentId, compacted).begin(...summary)
    } catch (error) {
      await this.destroyThread(agentId, compacted)
      throw error
    }
    return compacted
  }

  async getThreadIds(agentId: string): Promise<string[]> {
    this.#agent(agentId)
    const found = await threadsOf(this.#store, this.#resourceOf(agentId))
    return found.sort((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1)).map(({ id }) => id)
  }

  async getMessages(agentId: string, threadId: string): Promise<ChatMessage[]> {
    const thread = await this.#thread(agentId, threadId)
    return readChatMessages(this.#store, await thread.state())
  }

  async addMessages(agentId: string, threadId: string, messages: ChatMessage[]): Promise<void> {
    await (await this.#thread(agentId, threadId)).addMessages(messages)
  }

  async clearMessages(agentId: string, threadId: string): Promise<void> {
    await (await this.#thread(agentId, threadId)).clear()
  }

  async stream(
    agentId: string,
    threadId: string,
    input: string | ChatMessagePart[],
    options: StreamOptions = {},
  ): Promise<ChatTurn> {
    throwIfAborted(options.abortSignal)
    const parts = fromChatContent(input)
    const thread = await this.#thread(agentId, threadId)
    if (this.#wire.isHeard && !this.#agent(agentId).capabilities.wire) {
      this.#wire.emit({ type: 'wire-monitoring-not-supported', timestamp: Date.now(), agentId, sessionId: threadId })
    }
    const turn = await thread.stream(parts, options)
    const { abortSignal } = options
    if (abortSignal !== undefined) followSignal(abortSignal, turn, () => thread.cancel(turn))
    return turn
  }

  resumeTurn(agentId: string, threadId: string): ChatTurn | undefined {
    this.#agent(agentId)
    return this.#threads.get(agentId)?.get(threadId)?.resumeTurn()
  }

  async cancelTurn(agentId: string, threadId: string): Promise<void> {
    await (await this.#thread(agentId, threadId)).cancel()
  }

  async getOperation(agentId: string, threadId: string, operationId: string): Promise<OperationStatus | undefined> {
    return (await this.#thread(agentId, threadId)).operations.get(operationId)
  }

  async waitForOperation(agentId: string, threadId: string, operationId: string): Promise<OperationStatus> {
    return (await this.#thread(agentId, threadId)).operations.wait(operationId)
  }

  async abortOperation(agentId: string, threadId: string, operationId: string): Promise<void> {
    await (await this.#thread(agentId, threadId)).operations.abort(operationId)
  }

  async submitToolResult(agentId: string, threadId: string, result: ChatToolResultInfo): Promise<void> {
    await (await this.#thread(agentId, threadId)).submitResult(result)
  }

  async approveToolCall(
    agentId: string,
    threadId: string,
    toolCallId: string,
    options: { readonly remember?: boolean } = {},
  ): Promise<void> {
    await (await this.#thread(agentId, threadId)).settle(toolCallId, true, options.remember)
  }

  async declineToolCall(agentId: string, threadId: string, toolCallId: string): Promise<void> {
    await (await this.#thread(agentId, threadId)).settle(toolCallId, false)
  }

  onTelemetry(callback: TelemetryEventCallback): Unsubscribe {
    return this.#telemetry.subscribe(callback)
  }

  onLog(callback: AgentLogCallback): Unsubscribe {
    return this.#logs.subscribe(callback)
  }

  onWireCommunication(callback: WireCommunicationEventCallback): Unsubscribe {
    return this.#wire.subscribe(callback)
  }

  async shutdown(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    try {
      for (const agentId of this.#agents.keys()) await this.#release(agentId)
    } finally {
      await this.#registry.quit(this)
      if (this.#isOwnStore) await this.#store.close()
    }
  }

  #make(
    agentId: string,
    projectRoot: string,
    connectivity: ModelConnectivityInfo,
    config: HarnessAgentConfig,
    { hooks }: HarnessAgentOptions,
  ): Promise<EngineAgent> {
    const log: EngineSetup['log'] = (level, message, context) => this.#logs.log(level, message, context, { agentId })
    const sources = (): readonly ToolSource[] => {
      const servers = this.#servers.get(agentId)
      return servers === undefined ? [] : [servers.source]
    }
    const serverToolOf: EngineSetup['serverToolOf'] = (toolName) => this.#servers.get(agentId)?.originOf(toolName)
    const keepSetting: EngineSetup['keepSetting'] = async (threadId, key, value) => {
      await this.#registry.find(threadId)?.record([{ type: 'config.changed', settings: { [key]: value } }])
    }
    const setup = { agentId, projectRoot, connectivity, config, hooks, log, sources, serverToolOf, keepSetting }
    return engineAgent(this.id, setup, (given) => this.#options.makeAgent(given, this.#wire))
  }

  /** Connects to the servers of an agent in the background. Those whose configuration is the same stay connected. */
  async #connect(agentId: string, { mcpServers }: HarnessAgentConfig): Promise<void> {
    const { isForeign, setup } = this.#agent(agentId)
    if (isForeign) return
    let servers = this.#servers.get(agentId)
    if (servers === undefined) {
      if (mcpServers === undefined) return
      servers = new AgentServers(setup.projectRoot, ({ type, ...payload }) =>
        this.#telemetry.report(type, { agentId }, payload),
      )
      this.#servers.set(agentId, servers)
    }
    await servers.update(mcpServers)
  }

  #serversOf(agentId: string, serverName: string): AgentServers {
    const { isForeign, setup } = this.#agent(agentId)
    const { mcpServers = {} } = setup.config
    if (isForeign && Object.hasOwn(mcpServers, serverName)) {
      throw unsupported(this.id, 'reconnecting an MCP server: its program does that itself')
    }
    const servers = this.#servers.get(agentId)
    if (servers !== undefined) return servers
    throw new AgentSDKError('MCP_SERVER_NOT_FOUND', `Agent "${agentId}" has no MCP server "${serverName}".`)
  }

  /** Opens the threads in which something waits or was interrupted, so that it can be answered or goes on. */
  async #takeUp(agentId: string): Promise<void> {
    for (const threadId of this.#left.get(this.#resourceOf(agentId)) ?? []) {
      await this.#threadOf(agentId, threadId)
        .runtime()
        .catch((error: unknown) => {
          // Another process has taken it meanwhile, and continues it.
          if (!InspanError.is(error, 'held') && !InspanError.is(error, 'not-found')) throw error
        })
    }
  }

  /** Opens a thread in which something is due, e.g. because a limit has ended. */
  async #openDue(threadId: string): Promise<{ readonly runtime: ThreadRuntime; leave(): Promise<void> }> {
    const info = await this.#store.getThread(threadId)
    const agentId = info === null ? undefined : this.agentOfThread(info)
    if (agentId === undefined) throw new InspanError('not-found', `No agent here has a session "${threadId}".`)
    // It stays open for whoever asks for its session, and rests by itself.
    return { runtime: await this.openThread(agentId, threadId), leave: async () => undefined }
  }

  async #release(agentId: string): Promise<void> {
    const threads = this.#threads.get(agentId)
    this.#threads.delete(agentId)
    for (const thread of threads?.values() ?? []) await thread.close()
    await this.#servers.get(agentId)?.close()
    this.#servers.delete(agentId)
  }

  #agent(agentId: string): EngineAgent {
    this.#assertOpen()
    const agent = this.#agents.get(agentId)
    if (agent !== undefined) return agent
    throw new AgentSDKError('AGENT_NOT_FOUND', `The harness has no agent "${agentId}".`)
  }

  async #thread(agentId: string, threadId: string): Promise<EngineThread> {
    this.#agent(agentId)
    const known = this.#threads.get(agentId)?.get(threadId)
    if (known !== undefined) return known
    await this.#knownThread(agentId, threadId)
    return this.#threadOf(agentId, threadId)
  }

  async #knownThread(agentId: string, threadId: string): Promise<void> {
    this.#agent(agentId)
    const info = await this.#store.getThread(threadId)
    if (info?.resourceId === this.#resourceOf(agentId)) return
    throw new AgentSDKError('CHAT_SESSION_NOT_FOUND', `Agent "${agentId}" has no session "${threadId}".`)
  }

  #threadOf(agentId: string, threadId: string): EngineThread {
    const threads = this.#threads.get(agentId) ?? new Map<string, EngineThread>()
    this.#threads.set(agentId, threads)
    const known = threads.get(threadId)
    if (known !== undefined) return known
    const { approvalTimeout, newId, now, priceOf, rules } = this.#options
    const thread = new EngineThread({
      harnessId: this.id,
      threadId,
      agentId,
      store: this.#store,
      registry: this.#registry,
      agent: () => this.#agent(agentId),
      rules,
      log: (level, message, context) => this.#logs.log(level, message, context, { agentId, sessionId: threadId }),
      report: (type, payload) => this.#telemetry.report(type, { agentId, sessionId: threadId }, payload),
      door: {
        door: this.id,
        doorKey: this.#doorKey,
        windowOf: (model) => windowOf(model, this.#agent(agentId).setup.connectivity.model),
        ...(approvalTimeout === undefined ? {} : { approvalTimeout }),
        ...(newId === undefined ? {} : { newId }),
        ...(now === undefined ? {} : { now }),
        ...(priceOf === undefined ? {} : { priceOf }),
      },
    })
    threads.set(threadId, thread)
    return thread
  }

  /** Agents of two harnesses may have the same id. */
  #resourceOf(agentId: string): string {
    return `${this.id}/${agentId}`
  }

  #newThread(): { readonly id?: string; readonly now?: number } {
    const { newId, now } = this.#options
    return { ...(newId === undefined ? {} : { id: newId() }), ...(now === undefined ? {} : { now: now() }) }
  }

  #assertOpen(): void {
    if (this.#isClosed) throw new InspanError('closed', `The harness "${this.id}" was shut down.`)
  }
}

/** Cancels the turn on abort, and does not keep the signal busy after the turn. */
function followSignal(signal: AbortSignal, turn: ChatTurn, cancel: () => Promise<void>): void {
  const onAbort = (): void => void cancel().catch((error: unknown) => turn.fail(asError(error)))
  if (signal.aborted) onAbort()
  else signal.addEventListener('abort', onAbort, { once: true })
  void turn.over.then(() => signal.removeEventListener('abort', onAbort))
}
