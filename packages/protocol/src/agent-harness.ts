import type { AgentConfig, HarnessAgentConfig, StreamOptions } from './agent-config.ts'
import type { ChatEvent } from './chat-event.ts'
import type { ChatMessage, ChatMessagePart, ChatToolResultInfo } from './chat-message.ts'
import type { ModelConnectivityInfo } from './connectivity.ts'
import type { McpServerInfo } from './mcp.ts'
import type {
  AgentLogCallback,
  TelemetryEventCallback,
  Unsubscribe,
  WireCommunicationEventCallback,
} from './telemetry.ts'

/** The versions of `AgentHarness` that can be driven. */
export const SUPPORTED_PROTOCOL_VERSIONS = [1] as const

/** One turn, from its start to its one `finish`, whatever was approved or submitted in between. */
export interface ChatStreamResult {
  /** All events of the turn. */
  eventStream: AsyncGenerator<ChatEvent>
  /** Its words alone: a view of the same turn, complete whichever of the two is read. */
  textStream: AsyncGenerator<string>
}

export interface ToolResultHookInput {
  readonly toolCallId: string
  readonly toolName: string
  readonly serverName?: string
  readonly args: Record<string, unknown>
  readonly result: unknown
  readonly isError: boolean
}

export interface ToolResultReplacement {
  readonly result: unknown
}

/** What the host wants to see or change as an agent works. A harness ignores hooks it does not know. */
export interface AgentHooks {
  /** Sees each result before the model does; what it returns takes the result's place everywhere. */
  onToolResult?(
    input: ToolResultHookInput,
  ): ToolResultReplacement | undefined | Promise<ToolResultReplacement | undefined>
}

export type HooksForAgent = (agent: {
  readonly agentId: string
  readonly projectRoot: string
  readonly config: AgentConfig
}) => AgentHooks | undefined

export interface HarnessAgentOptions {
  readonly abortSignal?: AbortSignal
  readonly hooks?: AgentHooks
}

/** Credentials that take the place of a server's own. */
export interface McpAuth {
  readonly headers: Readonly<Record<string, string>>
}

/**
 * What can carry agents and their conversations. Every method refuses an agent or thread that it does not know. Threads
 * run side by side; a thread runs one turn at a time.
 */
export interface AgentHarness {
  /** Stable: what was stored under one id is not read by a harness with another. */
  readonly id: string
  readonly protocolVersion: number
  /** The harness's own features. Handed through and never looked into. */
  readonly extensions: unknown

  createAgent(
    agentId: string,
    projectRoot: string,
    connectivity: ModelConnectivityInfo,
    config: HarnessAgentConfig,
    options?: HarnessAgentOptions,
  ): Promise<void>
  /** The whole new config. Servers whose configuration is the same stay connected; a running turn is not disturbed. */
  updateAgent(
    agentId: string,
    connectivity: ModelConnectivityInfo,
    config: HarnessAgentConfig,
    options?: HarnessAgentOptions,
  ): Promise<void>
  /** Releases servers, processes and handles; the threads go with the agent. */
  destroyAgent(agentId: string): Promise<boolean>

  getMcpServerInfo(agentId: string): McpServerInfo[]
  reconnectMcpServer(agentId: string, serverName: string): Promise<void>
  refreshMcpAuth?(agentId: string, serverName: string, auth: McpAuth): Promise<void>

  /** Gives the id of the new thread, like the next but one and the one after. */
  createThread(agentId: string): Promise<string>
  destroyThread(agentId: string, threadId: string): Promise<void>
  cloneThread(agentId: string, threadId: string): Promise<string>
  /** A new thread that begins with a summary; the old one stays. */
  compactThread(agentId: string, threadId: string): Promise<string>
  getThreadIds(agentId: string): Promise<string[]>

  getMessages(agentId: string, threadId: string): Promise<ChatMessage[]>
  /** Without asking the model anything. */
  addMessages(agentId: string, threadId: string, messages: ChatMessage[]): Promise<void>
  clearMessages(agentId: string, threadId: string): Promise<void>

  /** Refuses input that cannot be sent before there is a stream; what happens later are events. */
  stream(
    agentId: string,
    threadId: string,
    input: string | ChatMessagePart[],
    options?: StreamOptions,
  ): Promise<ChatStreamResult>
  /** The turn that still waits, e.g. after a restart. */
  resumeTurn?(agentId: string, threadId: string): ChatStreamResult | undefined
  cancelTurn?(agentId: string, threadId: string): Promise<void>
  submitToolResult(agentId: string, threadId: string, result: ChatToolResultInfo): Promise<void>
  approveToolCall(
    agentId: string,
    threadId: string,
    toolCallId: string,
    options?: { readonly remember?: boolean },
  ): Promise<void>
  declineToolCall(agentId: string, threadId: string, toolCallId: string): Promise<void>

  onTelemetry(callback: TelemetryEventCallback): Unsubscribe
  onLog(callback: AgentLogCallback): Unsubscribe
  /** While nobody listens nothing is captured. */
  onWireCommunication?(callback: WireCommunicationEventCallback): Unsubscribe

  /** Leaves no handle open: what lies under the storage folder can be removed afterwards. */
  shutdown(): Promise<void>
}

export interface HarnessFactory<Harness extends AgentHarness = AgentHarness> {
  readonly protocolVersion: number
  /** The harness keeps its data below the folder, which exists. */
  create(storageRootFolder: string): Promise<Harness>
}

/** What a factory builds. */
export type HarnessOf<Factory extends HarnessFactory> = Awaited<ReturnType<Factory['create']>>

declare const agentConfig: unique symbol

/** Says at compile time which config a harness takes. Nothing of it exists at run time. */
export interface WithAgentConfig<Config extends AgentConfig> {
  readonly [agentConfig]?: Config
}

/** The config a harness takes: its own if it says so, else the common one. */
export type ConfigOf<Harness> = Harness extends { readonly [agentConfig]?: infer Config extends AgentConfig }
  ? Config
  : AgentConfig
