import type { ContextUsage } from '@inspan/protocol'
import type {
  AgentConfig,
  AgentConnectivityResolver,
  AgentHarness,
  AgentLogCallback,
  ChatEvent,
  ChatMessage,
  ChatMessagePart,
  ChatStreamResult,
  ChatToolResultInfo,
  ConfigOf,
  HarnessCapabilities,
  HooksForAgent,
  McpAuth,
  McpServerInfo,
  ModelConnectivityInfo,
  OperationStatus,
  OrgConnection,
  StreamOptions,
  TelemetryEventCallback,
  Unsubscribe,
  WireCommunicationEventCallback,
} from '@inspan/protocol/chat'

export interface AgentManagerOptions {
  /** Decides which model an agent uses and with whose credentials. Default: `EnvConnectivityResolver`. */
  readonly connectivityResolver?: AgentConnectivityResolver
  /** Returns the hooks of an agent. Called when it is created, restored or updated. */
  readonly hooksForAgent?: HooksForAgent
  /** Milliseconds since the epoch. Default: `Date.now`. */
  readonly now?: () => number
  /** Makes the ids of agents that are given none. Default: UUIDs. */
  readonly newId?: () => string
}

/** A persisted agent that could not be brought back. */
export interface RestoreFailure {
  agentId: string
  projectRoot: string
  config: AgentConfig
  error: unknown
}

/** The options of `chat()`. */
export type ChatOptions = StreamOptions

/** Owns the harness and its agents. Made by `createAgentManager`. */
export interface AgentManager<H extends AgentHarness = AgentHarness> extends AsyncDisposable {
  /** The harness's own features, untouched. */
  readonly extensions: H['extensions']
  /** Creates an agent that works in an existing folder. Persisted: the next manager over the same folder has it too. */
  createAgent(
    projectRoot: string,
    config?: ConfigOf<H> & { agentId?: string },
    options?: { abortSignal?: AbortSignal },
  ): Promise<AgentHandle<H>>
  getAgent(agentId: string): AgentHandle<H>
  getAgentIds(): string[]
  /** Destroys an agent with its sessions. Also removes one that could not be restored. */
  destroyAgent(agentId: string): Promise<void>
  /** Releases everything. Agents and sessions stay on disk. */
  shutdown(): Promise<void>
  onTelemetry(callback: TelemetryEventCallback): Unsubscribe
  /** The first listener also gets the records made before it listened. */
  onLog(callback: AgentLogCallback): Unsubscribe
  onWireCommunication(callback: WireCommunicationEventCallback): Unsubscribe
  getRestoreFailures(): RestoreFailure[]
}

/** What is known of how an agent reaches its model, without credentials. */
export interface ConnectivityView {
  readonly provider: string
  readonly modelId: string
  readonly baseUrl?: string
  readonly profile?: string
}

/** A configured agent, and the chat sessions with it. Disposing it releases its sessions and deletes nothing. */
export interface AgentHandle<_H extends AgentHarness = AgentHarness> extends AsyncDisposable {
  getId(): string
  getProjectRoot(): string
  getOrgConnection(): OrgConnection | undefined
  getConnectivity(): ConnectivityView
  getAgentConfig(): AgentConfig
  /** What the harness can do for this agent. More is refused with `UNSUPPORTED`. */
  getCapabilities(): HarnessCapabilities
  getMcpServerInfo(): McpServerInfo[]
  reconnectMcpServer(serverName: string): Promise<void>
  /** Reconnects one server with other credentials. */
  refreshMcpAuth(serverName: string, auth: McpAuth): Promise<void>
  /**
   * Merges the fields into the config; a field that is present and `undefined` is reset. Turns that are going on keep the
   * old config.
   */
  updateAgentConfig(
    config?: AgentConfig,
    options?: { abortSignal?: AbortSignal; forceResolve?: boolean },
  ): Promise<void>
  createChatSession(): Promise<ChatSession>
  getChatSession(sessionId: string): ChatSession
  getChatSessionIds(): string[]
  destroyChatSession(sessionId: string): Promise<void>
  cloneChatSession(sourceSessionId: string): Promise<ChatSession>
  compactChatSession(sessionId: string): Promise<ChatSession>
  destroy(): Promise<void>
  onTelemetry(callback: TelemetryEventCallback): Unsubscribe
  onLog(callback: AgentLogCallback): Unsubscribe
}

/** One conversation. */
export interface ChatSession extends AsyncDisposable {
  getId(): string
  /** Sends a message. Input that cannot be sent rejects here; everything later is an event. */
  chat(message: string | ChatMessagePart[], options?: ChatOptions): Promise<ChatStreamResult>
  /** Returns the turn that is not over, e.g. one that has waited since before a restart. */
  resumeTurn(): ChatStreamResult | undefined
  /** Ends the open turn, also one that waits. */
  cancelTurn(): Promise<void>
  submitToolResult(toolResult: ChatToolResultInfo): Promise<void>
  approveToolCall(toolCallId: string, options?: { remember?: boolean }): Promise<void>
  declineToolCall(toolCallId: string): Promise<void>
  getMessageHistory(): Promise<ChatMessage[]>
  clearHistory(): Promise<void>
  getContextUsage(): ContextUsage
  /**
   * Adds to the conversation without calling the model. A text becomes a message of the user. During a turn it is added
   * after the turn; a turn that waits for an answer refuses it.
   */
  addContext(message: string | ChatMessage[]): Promise<void>
  /** Returns what became of a turn that was given this `operationId`, also in an earlier process. */
  getOperation(operationId: string): Promise<OperationStatus | undefined>
  waitForOperation(operationId: string): Promise<OperationStatus>
  abortOperation(operationId: string): Promise<void>
  /** Calls back with every event of every turn, whether or not anybody reads the streams. */
  subscribe(callback: (event: ChatEvent) => void): void
  unsubscribe(callback: (event: ChatEvent) => void): void
  onTelemetry(callback: TelemetryEventCallback): Unsubscribe
  onLog(callback: AgentLogCallback): Unsubscribe
  /** Releases listeners. Deletes nothing. */
  dispose(): void
}

/** The connection of an agent as the SDK keeps it. */
export interface ResolvedConnectivity {
  readonly model: ModelConnectivityInfo
  readonly orgConnection?: OrgConnection
}
