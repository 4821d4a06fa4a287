import { Agent } from '@inspan/agent'
import type { ToolCategory } from '@inspan/protocol'
import type { MCPConfiguration, McpServerInfo } from '@inspan/protocol/chat'
import type { HarnessEvent, HarnessEventListener, HarnessMessage, HarnessThread } from '@inspan/protocol/harness'
import type { PageRequest } from '@inspan/protocol/store'
import { currentAgent } from './agents/current-agent.ts'
import { buildCore } from './build-core.ts'
import { checkConfig } from './checks/check-config.ts'
import { aFunction, aText } from '@inspan/protocol/internal'
import { checkGiven, givenFields } from './checks/check-given.ts'
import type { MessageInput } from './runs/conversation.ts'
import { noteCore } from './core-of.ts'
import { endAll } from './end-all.ts'
import { noticeAtExit } from './exit-notice.ts'
import { withObjectives, type Objectives } from './goals/current-agent.ts'
import type {
  HarnessDynamic,
  DynamicContext,
  HarnessAgent,
  HarnessConfig,
  HarnessMode,
  StateShape,
  HarnessSubagent,
} from './harness-config.ts'
import type { HarnessCore } from './harness-core.ts'
import { harnessMemory, type HarnessMemory } from './harness-memory.ts'
import { harnessRuntime, type HarnessRuntime } from './harness-runtime.ts'
import { Heartbeats, type HeartbeatHandler } from './runs/heartbeats.ts'
import type { AvailableModel, ModelAuthStatus } from './models/model-types.ts'
import { memoryRecord, memoryStatus, type ObservationalMemoryRecord } from './observational-memory.ts'
import { prepareTracing } from './runs/observability.ts'
import type { RequestContextInput } from './agents/request-context.ts'
import { SessionRegistry } from './sessions/session-registry.ts'
import { insideOf, type Session } from './session.ts'
import type { ToolSuspensionResponse } from './sessions/suspensions.ts'
import type { NotificationInput } from './signals/notification.ts'
import type { SentNotification } from './signals/notifications.ts'
import type { SentSignal, SignalInput, SignalRouting } from './signals/send-signal.ts'
import type { SystemReminder } from './signals/system-reminder.ts'
import type { CloneRequest } from './threads/thread-lifecycle.ts'
import { readResourceIds, type Listed } from './threads/thread-reads.ts'
import { reportFailure } from './events/report-errors.ts'
import type { HarnessWorkspace } from './agents/workspace-slot.ts'

export interface SessionInfo {
  readonly currentThreadId: string | null
  readonly currentModeId: string
  readonly threads: readonly HarnessThread[]
}

interface NewSession {
  readonly resourceId?: string
  readonly id?: string
}

interface WorkspaceRequest {
  readonly requestContext?: RequestContextInput
}

/** How long a run may take to its next step when its process is asked to end. */
const DRAIN_MS = 30_000

/**
 * The control layer over agents: modes, threads, permissions, questions and events for a UI. Everything that belongs to
 * one conversation is in a session: the harness has one of its own, `session`, and `createSession` makes more.
 */
export class Harness<State extends StateShape = StateShape> {
  readonly id: string
  readonly session: Session<State>
  readonly memory: HarnessMemory
  readonly #config: HarnessConfig<State>
  readonly #core: HarnessCore
  readonly #heartbeats: Heartbeats
  readonly #sessions: SessionRegistry<State>
  /** The agents that `getCurrentAgent` has returned, by mode. */
  readonly #agents = new Map<string, HarnessAgent & Objectives>()
  #initialised: Promise<void> | undefined
  #runtime: HarnessRuntime | undefined
  #endNotice: (() => void) | undefined

  constructor(config: HarnessConfig<State>) {
    const plain = config as unknown as HarnessConfig
    checkConfig(plain)
    this.id = config.id
    this.#config = config
    this.#core = buildCore(plain, {
      ready: () => this.#ready(),
      broadcast: (event) => this.#broadcast(event),
      runtime: () => this.#runtime,
    })
    noteCore(this, this.#core)
    this.#heartbeats = new Heartbeats((id, error) =>
      this.#broadcast({ type: 'error', error, errorType: `heartbeat:${id}` }),
    )
    this.#sessions = new SessionRegistry<State>(this.#core, config.resourceId ?? config.id)
    this.session = this.#sessions.first
    this.memory = harnessMemory(this.session)
  }

  /** Opens the store, initialises the workspace and starts the heartbeats. Calls that need it run it themselves. */
  init(): Promise<void> {
    return this.#report(() => this.#ready())
  }

  #ready(): Promise<void> {
    this.#initialised ??= this.#start().catch((error: unknown) => {
      this.#initialised = undefined
      throw error
    })
    return this.#initialised
  }

  /**
   * Ends what this process holds: heartbeats, workspace, leases and locks. Unlike `abort`, it leaves open waits
   * waiting. Threads stay in the store, so the harness can be used again. A store that was given stays open; the
   * default one in memory lasts as long as the harness object.
   */
  destroy(): Promise<void> {
    return this.#report(() => this.#destroy())
  }

  /**
   * Like `destroy`, for a process that shares its store with others: runs at work are not ended but left at their next
   * step, after `timeoutMs` wherever they are (default: 30,000). Another process continues them.
   */
  drain({ timeoutMs = DRAIN_MS }: { readonly timeoutMs?: number } = {}): Promise<void> {
    return this.#report(async () => {
      await this.#core.threads.drain(timeoutMs)
      await this.#destroy()
    })
  }

  async #destroy(): Promise<void> {
    if (this.#initialised === undefined) return
    await this.#initialised.catch(() => undefined)
    const { sources, threads, workspace } = this.#core
    this.#initialised = undefined
    this.#runtime = undefined
    this.#endNotice?.()
    await endAll([
      () => this.#heartbeats.stop(),
      () => this.#sessions.close(),
      () => threads.close(),
      () => sources.close(),
      () => workspace.destroy(),
    ])
  }

  /**
   * Creates a session. One with an id is restored by resource and id, also in another process: thread, choices, rules,
   * grants, state and yolo.
   */
  createSession(options: NewSession = {}): Promise<Session<State>> {
    return this.#report(async () => {
      const rules = { resourceId: aText, id: aText }
      const { id, resourceId } = givenFields(options, 'createSession({ resourceId?, id? })', {}, rules)
      await this.#ready()
      return this.#sessions.open(resourceId ?? this.#config.resourceId ?? this.id, id)
    })
  }

  /**
   * Calls `listener` with every event of every session; `sessionId` says which. What concerns the whole harness is
   * emitted once, by `session`. Returns a function that unsubscribes it.
   */
  subscribe(listener: HarnessEventListener): () => void {
    checkGiven(listener, 'listener', aFunction)
    return this.#sessions.subscribe(listener)
  }

  /** Binds `session` to the newest thread of its resource, or to a new one. */
  selectOrCreateThread(): Promise<HarnessThread> {
    return this.session.selectOrCreateThread()
  }

  createThread(options?: { readonly title?: string }): Promise<HarnessThread> {
    return this.session.thread.create(options)
  }

  /**
   * Binds `session` to another thread. The run of the old thread is cancelled, unless another session looks at that
   * thread or the run waits only for answers to tools' questions.
   */
  switchThread(options: { readonly threadId: string }): Promise<void> {
    return this.session.thread.switch(options)
  }

  renameThread(options: { readonly title: string }): Promise<void> {
    return this.session.thread.rename(options)
  }

  /** Forks a thread and binds `session` to the fork. Messages are shared; grants and yolo are not. */
  cloneThread(request?: CloneRequest): Promise<HarnessThread> {
    return this.session.thread.clone(request)
  }

  /**
   * Leaves the thread. Its run is cancelled, unless another session looks at the thread or the run waits only for
   * answers to tools' questions.
   */
  detachFromCurrentThread(): Promise<void> {
    return this.session.thread.clear()
  }

  setResourceId(options: { readonly resourceId: string }): Promise<void> {
    return this.session.identity.setResourceId(options)
  }

  /** Returns a page of 1,000 at most; `next` is the cursor of the next page. */
  async getKnownResourceIds(query?: PageRequest): Promise<Listed<string>> {
    await this.#ready()
    return readResourceIds(this.#core.store, query)
  }

  async getSession(): Promise<SessionInfo> {
    return {
      currentThreadId: this.session.thread.getId(),
      currentModeId: this.session.mode.get(),
      threads: await this.session.thread.list(),
    }
  }

  /**
   * Starts a run. During a run, the agent hears the message before its next step. Resolves when the run has ended or
   * waits for an answer to a tool's question.
   */
  sendMessage(input: MessageInput): Promise<void> {
    return this.session.sendMessage(input)
  }

  /** Cancels the run with its calls and waits, and stops what would follow from it. Queued messages are held. */
  abort(): Promise<void> {
    return this.session.abort()
  }

  /** Like `sendMessage`. An agent that cannot listen while it works is cancelled and asked anew. */
  steer(input: MessageInput): Promise<void> {
    return this.session.steer(input)
  }

  /** Starts a run. During a run, the message is queued until the run has ended. */
  followUp(input: MessageInput): Promise<void> {
    return this.session.followUp(input)
  }

  /** Answers a tool's question; the same run goes on. */
  respondToToolSuspension(response: ToolSuspensionResponse): Promise<void> {
    return this.session.respondToToolSuspension(response)
  }

  listModes(): readonly HarnessMode[] {
    return this.#config.modes
  }

  /** Sends a signal to the thread. Depending on `routing` it is delivered to the run, starts a run or is only kept. */
  sendSignal(input: SignalInput, routing?: SignalRouting): SentSignal {
    return this.session.signals.sendSignal(input, routing)
  }

  /**
   * Sends a notification from outside. Its priority decides whether the agent hears it at once, in a summary, or later.
   */
  sendNotificationSignal(input: NotificationInput, routing?: SignalRouting): Promise<SentNotification> {
    return this.session.signals.sendNotificationSignal(input, routing)
  }

  saveSystemReminderMessage(reminder: SystemReminder): Promise<HarnessMessage | null> {
    return this.session.signals.saveSystemReminderMessage(reminder)
  }

  listSubagents(): readonly HarnessSubagent[] {
    return this.#config.subagents ?? []
  }

  /**
   * Returns the agent of the current mode as it works there: with the instructions and tools of harness and mode, memory,
   * workspace and browser, and methods for the goal of the current thread. The same object for the same mode.
   */
  getCurrentAgent(): HarnessAgent & Objectives {
    const mode = this.session.mode.resolve()
    const known = this.#agents.get(mode.id)
    if (known !== undefined) return known
    const made = withObjectives(currentAgent(this.#core, mode), this.session.objectives)
    this.#agents.set(mode.id, made)
    return made
  }

  async getResolvedMemory(requestContext?: RequestContextInput): Promise<object | null> {
    const agent = this.#core.agents.of(this.session.mode.resolve())
    const memory = (agent instanceof Agent ? agent.options.memory : undefined) ?? this.#config.memory
    const context = insideOf(this.session).requestContext(requestContext)
    if (typeof memory !== 'function') return memory ?? null
    return (memory as (context: DynamicContext) => object)({ requestContext: context })
  }

  /** Returns what memory has observed of the current thread; `null` without a thread, a memory or an observation. */
  async getObservationalMemoryRecord(): Promise<ObservationalMemoryRecord | null> {
    return memoryRecord(await this.getResolvedMemory(), this.session)
  }

  /** Emits `om_status` with the progress of memory in the current thread. */
  loadOMProgress(): Promise<void> {
    return this.#report(async () => {
      const record = await this.getObservationalMemoryRecord()
      if (record !== null) this.session.emit(memoryStatus(record, this.session))
    })
  }

  /** `undefined` before `init()`. */
  getRuntime(): HarnessRuntime | undefined {
    return this.#runtime
  }

  /** The same as `getRuntime`, under the name that programs written for another library use. */
  getMastra(): HarnessRuntime | undefined {
    return this.#runtime
  }

  /** Returns the browser as it was given. Tools get it from their request context with `harness.getBrowser()`. */
  getBrowser(): HarnessDynamic<object> | undefined {
    return this.#core.browser.get()
  }

  /** Replaces the browser for every tool that asks from now on. */
  setBrowser(browser: HarnessDynamic<object> | undefined): void {
    this.#core.browser.set(browser)
  }

  getCurrentModelAuthStatus(): Promise<ModelAuthStatus> {
    return this.#core.models.authStatus(this.session.model.get())
  }

  listAvailableModels(): Promise<readonly AvailableModel[]> {
    return this.#core.models.list()
  }

  invalidateAvailableModelsCache(): void {
    this.#core.models.invalidate()
  }

  getToolCategory(options: { readonly toolName: string }): ToolCategory | null {
    return this.#core.categoryOf(givenFields(options, 'getToolCategory({ toolName })', { toolName: aText }).toolName)
  }

  registerHeartbeat(handler: HeartbeatHandler): Promise<void> {
    return this.#report(() => this.#heartbeats.register(handler))
  }

  removeHeartbeat(options: { readonly id: string }): Promise<void> {
    return this.#report(async () => {
      await this.#heartbeats.remove(givenFields(options, 'removeHeartbeat({ id })', { id: aText }).id)
    })
  }

  stopHeartbeats(): Promise<void> {
    return this.#report(() => this.#heartbeats.stop())
  }

  /** Returns what is known now about the MCP servers: status, tools, and why one cannot be used. */
  getMcpServerInfo(): McpServerInfo[] {
    return this.#core.sources.mcp().info()
  }

  /** Connects an MCP server anew, such as one that has crashed. Look at `getMcpServerInfo` for how it went. */
  reconnectMcpServer(options: { readonly serverName: string }): Promise<void> {
    return this.#report(async () => {
      const { serverName } = givenFields(options, 'reconnectMcpServer({ serverName })', { serverName: aText })
      await this.#ready()
      await this.#core.sources.mcp().reconnect(serverName)
    })
  }

  /** Replaces the MCP servers. Those whose configuration stays the same keep their connection. */
  setMcpServers(servers: MCPConfiguration): Promise<void> {
    return this.#report(async () => {
      await this.#ready()
      await this.#core.sources.mcp().update(givenFields(servers, 'setMcpServers(servers)'))
    })
  }

  hasWorkspace(): boolean {
    return this.#core.workspace.isConfigured
  }

  isWorkspaceReady(): boolean {
    return this.#core.workspace.isReady
  }

  getWorkspace(): HarnessWorkspace | undefined {
    return this.#core.workspace.get()
  }

  resolveWorkspace(options: WorkspaceRequest = {}): Promise<HarnessWorkspace | undefined> {
    return this.#report(async () => {
      const { requestContext } = givenFields(options, 'resolveWorkspace({ requestContext? })')
      await this.#ready()
      const { workspace } = this.#core
      const context = insideOf(this.session).requestContext(requestContext)
      return requestContext === undefined ? workspace.resolveShared(context) : workspace.resolve(context)
    })
  }

  destroyWorkspace(): Promise<void> {
    return this.#report(() => this.#core.workspace.destroy())
  }

  async #start(): Promise<void> {
    const { heartbeatHandlers = [], observability, pubsub } = this.#config
    await prepareTracing(observability)
    await this.#core.store.open()
    await this.#core.sources.start()
    await this.#core.workspace.init()
    this.#runtime = harnessRuntime({
      store: this.#core.store,
      agents: this.#core.agents.all,
      memory: await this.getResolvedMemory(),
      observability,
      pubsub,
      scorers: this.#core.scorers,
    })
    this.#endNotice = noticeAtExit(() => this.#sessions.unapproved())
    this.#core.threads.serveDue()
    for (const handler of heartbeatHandlers) await this.#heartbeats.register(handler)
  }

  /** Emits an `error` event if the work fails. */
  #report<Result>(work: () => Promise<Result>): Promise<Result> {
    return reportFailure(work(), (event) => this.#broadcast(event))
  }

  #broadcast(event: HarnessEvent): void {
    this.#sessions.emit(event)
  }
}
