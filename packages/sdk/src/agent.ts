import type {
  AgentConfig,
  AgentHarness,
  AgentLogCallback,
  HarnessCapabilities,
  McpAuth,
  McpServerInfo,
  OrgConnection,
  TelemetryEventCallback,
  Unsubscribe,
} from '@inspan/protocol/chat'
import { HarnessChatSession } from './chat-session.ts'
import { AgentSDKError, disposed, throwIfAborted, unsupported } from './errors.ts'
import type { LogBus, TelemetryBus } from './event-bus.ts'
import type { AgentIdentity } from './identity-files.ts'
import { mergeConfig, needsResolving } from './merge-config.ts'
import type { AgentHandle, ChatSession, ConnectivityView, ResolvedConnectivity } from './public-types.ts'

/** What an agent needs of its manager. */
export interface AgentPorts {
  readonly harness: AgentHarness
  readonly logs: LogBus
  readonly telemetry: TelemetryBus
  readonly now: () => number
  resolve(identity: AgentIdentity, abortSignal: AbortSignal | undefined): Promise<ResolvedConnectivity>
  /** Tells the harness about a config, with the hooks of the host. */
  install(
    identity: AgentIdentity,
    connectivity: ResolvedConnectivity,
    options: { readonly isUpdate: boolean; readonly abortSignal: AbortSignal | undefined },
  ): Promise<void>
  persist(identity: AgentIdentity): Promise<void>
  destroy(agentId: string): Promise<void>
}

/** An agent over any harness. */
export class ManagedAgent implements AgentHandle {
  readonly #ports: AgentPorts
  readonly #sessions = new Map<string, HarnessChatSession>()
  readonly #sessionIds: Set<string>
  readonly #unsubscribes = new Set<Unsubscribe>()
  #identity: AgentIdentity
  #connectivity: ResolvedConnectivity
  #updating: Promise<void> = Promise.resolve()
  #isDisposed = false

  constructor(
    ports: AgentPorts,
    identity: AgentIdentity,
    connectivity: ResolvedConnectivity,
    sessionIds: readonly string[],
  ) {
    this.#ports = ports
    this.#identity = identity
    this.#connectivity = connectivity
    this.#sessionIds = new Set(sessionIds)
  }

  /** What is persisted of the agent. */
  get identity(): AgentIdentity {
    return this.#identity
  }

  getId(): string {
    return this.#identity.agentId
  }

  getProjectRoot(): string {
    this.#assertUsable()
    return this.#identity.projectRoot
  }

  getOrgConnection(): OrgConnection | undefined {
    this.#assertUsable()
    return this.#connectivity.orgConnection
  }

  getConnectivity(): ConnectivityView {
    this.#assertUsable()
    const { baseUrl, model } = this.#connectivity.model
    const profile = this.#identity.config.profile ?? this.#identity.config.orgAlias
    return {
      provider: model.provider,
      modelId: model.id,
      ...(baseUrl === undefined ? {} : { baseUrl }),
      ...(profile === undefined ? {} : { profile }),
    }
  }

  getAgentConfig(): AgentConfig {
    this.#assertUsable()
    return { ...this.#identity.config }
  }

  getCapabilities(): HarnessCapabilities {
    this.#assertUsable()
    const { harness } = this.#ports
    if (harness.getCapabilities === undefined) throw unsupported(harness.id, 'listing what it can do')
    return harness.getCapabilities(this.getId())
  }

  getMcpServerInfo(): McpServerInfo[] {
    this.#assertUsable()
    return this.#ports.harness.getMcpServerInfo(this.getId())
  }

  async reconnectMcpServer(serverName: string): Promise<void> {
    this.#assertUsable()
    await this.#ports.harness.reconnectMcpServer(this.getId(), serverName)
  }

  async refreshMcpAuth(serverName: string, auth: McpAuth): Promise<void> {
    this.#assertUsable()
    const { harness } = this.#ports
    if (harness.refreshMcpAuth === undefined) throw unsupported(harness.id, 'new credentials for MCP servers')
    await harness.refreshMcpAuth(this.getId(), serverName, auth)
  }

  /** One update after the other: each merges into what the one before left. */
  updateAgentConfig(
    config: AgentConfig = {},
    options: { abortSignal?: AbortSignal; forceResolve?: boolean } = {},
  ): Promise<void> {
    const updated = this.#updating.then(() => this.#update(config, options))
    this.#updating = updated.catch(() => undefined)
    return updated
  }

  async createChatSession(): Promise<ChatSession> {
    this.#assertUsable()
    const sessionId = await this.#ports.harness.createThread(this.getId())
    return this.#added(sessionId, 'chat-session-created', {})
  }

  getChatSession(sessionId: string): ChatSession {
    this.#assertUsable()
    this.#requireSession(sessionId)
    const known = this.#sessions.get(sessionId)
    if (known !== undefined) return known
    const { harness, logs, now, telemetry } = this.#ports
    const session = new HarnessChatSession({
      harness,
      logs,
      telemetry,
      now,
      agentId: this.getId(),
      sessionId,
      model: () => this.#connectivity.model.model,
    })
    this.#sessions.set(sessionId, session)
    return session
  }

  getChatSessionIds(): string[] {
    this.#assertUsable()
    return [...this.#sessionIds]
  }

  async destroyChatSession(sessionId: string): Promise<void> {
    this.#assertUsable()
    this.#requireSession(sessionId)
    await this.#ports.harness.destroyThread(this.getId(), sessionId)
    this.#sessionIds.delete(sessionId)
    this.#sessions.get(sessionId)?.dispose()
    this.#sessions.delete(sessionId)
    this.#ports.telemetry.report('chat-session-destroyed', { agentId: this.getId(), sessionId }, {})
  }

  async cloneChatSession(sourceSessionId: string): Promise<ChatSession> {
    this.#assertUsable()
    this.#requireSession(sourceSessionId)
    const sessionId = await this.#ports.harness.cloneThread(this.getId(), sourceSessionId)
    return this.#added(sessionId, 'chat-session-cloned', { sourceSessionId })
  }

  async compactChatSession(sessionId: string): Promise<ChatSession> {
    this.#assertUsable()
    this.#requireSession(sessionId)
    let compacted: string
    try {
      compacted = await this.#ports.harness.compactThread(this.getId(), sessionId)
    } catch (error) {
      if (error instanceof AgentSDKError) throw error
      throw new AgentSDKError('COMPACTION_FAILED', `The session "${sessionId}" could not be compacted.`, {
        hint: 'It is unchanged.',
        cause: error,
      })
    }
    return this.#added(compacted, 'chat-session-compacted', { sourceSessionId: sessionId })
  }

  async destroy(): Promise<void> {
    this.#assertUsable()
    await this.#ports.destroy(this.getId())
  }

  onTelemetry(callback: TelemetryEventCallback): Unsubscribe {
    this.#assertUsable()
    return this.#kept(this.#ports.telemetry.subscribe(callback, { agentId: this.getId() }))
  }

  onLog(callback: AgentLogCallback): Unsubscribe {
    this.#assertUsable()
    return this.#kept(this.#ports.logs.subscribe(callback, { agentId: this.getId() }))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const session of this.#sessions.values()) session.dispose()
    this.#sessions.clear()
    this.#unsubscribeAll()
  }

  /** Makes every further call fail. Called by the manager. */
  dispose(): void {
    this.#isDisposed = true
    for (const session of this.#sessions.values()) session.dispose()
    this.#sessions.clear()
    this.#unsubscribeAll()
  }

  async #update(
    given: AgentConfig,
    { abortSignal, forceResolve = false }: { abortSignal?: AbortSignal; forceResolve?: boolean },
  ): Promise<void> {
    this.#assertUsable()
    throwIfAborted(abortSignal)
    const before = this.#identity
    const config = mergeConfig(before.config, given)
    const identity = { ...before, config }
    const isResolved = forceResolve || needsResolving(given)
    const connectivity = isResolved ? await this.#ports.resolve(identity, abortSignal) : this.#connectivity
    await this.#ports.install(identity, connectivity, { isUpdate: true, abortSignal })
    try {
      await this.#ports.persist(identity)
    } catch (error) {
      await this.#ports.install(before, this.#connectivity, { isUpdate: true, abortSignal: undefined })
      throw error
    }
    this.#identity = identity
    this.#connectivity = connectivity
    const changedFields = Object.keys(given)
    this.#ports.telemetry.report('agent-config-updated', { agentId: this.getId() }, { changedFields })
  }

  #added(
    sessionId: string,
    type: 'chat-session-created' | 'chat-session-cloned' | 'chat-session-compacted',
    payload: { readonly sourceSessionId?: string },
  ): ChatSession {
    this.#sessionIds.add(sessionId)
    const scope = { agentId: this.getId(), sessionId }
    const { sourceSessionId } = payload
    if (sourceSessionId === undefined) this.#ports.telemetry.report('chat-session-created', scope, {})
    else if (type !== 'chat-session-created') this.#ports.telemetry.report(type, scope, { sourceSessionId })
    return this.getChatSession(sessionId)
  }

  #kept(unsubscribe: Unsubscribe): Unsubscribe {
    this.#unsubscribes.add(unsubscribe)
    return () => {
      this.#unsubscribes.delete(unsubscribe)
      unsubscribe()
    }
  }

  #unsubscribeAll(): void {
    for (const unsubscribe of this.#unsubscribes) unsubscribe()
    this.#unsubscribes.clear()
  }

  #requireSession(sessionId: string): void {
    if (this.#sessionIds.has(sessionId)) return
    throw new AgentSDKError('CHAT_SESSION_NOT_FOUND', `Agent "${this.getId()}" has no session "${sessionId}".`)
  }

  #assertUsable(): void {
    if (this.#isDisposed) throw disposed(`The agent "${this.#identity.agentId}"`)
  }
}
