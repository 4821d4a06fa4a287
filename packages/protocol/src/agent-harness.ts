import type { AgentConfig, HarnessAgentConfig, StreamOptions } from './agent-config.ts'
import type { ChatEvent } from './chat-event.ts'
import type { ChatMessage, ChatMessagePart, ChatToolResultInfo } from './chat-message.ts'
import type { ModelConnectivityInfo } from './connectivity.ts'
import type { ErrorData } from './error-data.ts'
import type { Effort } from './driver.ts'
import type { McpServerInfo } from './mcp.ts'
import type {
  AgentLogCallback,
  TelemetryEventCallback,
  Unsubscribe,
  WireCommunicationEventCallback,
} from './telemetry.ts'
import type { FinishReason, UsageMetadata } from './usage.ts'

/** The versions of `AgentHarness` that we can drive. */
export const SUPPORTED_PROTOCOL_VERSIONS = [1] as const

/** One turn, from its start to its one `finish`, whatever was approved or submitted in between. */
export interface ChatStreamResult {
  /** All events of the turn. */
  eventStream: AsyncGenerator<ChatEvent>
  /** Only the text of the same turn. Complete whichever of the two streams is read. */
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

/** What the host wants to see or change while an agent works. A harness ignores hooks it does not know. */
export interface AgentHooks {
  /** Gets each result before the model does. A returned replacement replaces the result everywhere. */
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

/** Credentials that replace a server's own. */
export interface McpAuth {
  readonly headers: Readonly<Record<string, string>>
}

/** What a turn has used. */
export interface OperationUsage extends UsageMetadata {
  readonly costUsd?: number
  /** The part of `costUsd` that we calculated from list prices. The rest was billed. Absent: none of it. */
  readonly estimatedUsd?: number
  /** Whether the tokens were `reported` by the provider, or `estimated` by us. */
  readonly source: 'reported' | 'estimated'
}

/** `waiting`: for an approval, a tool result or the end of a provider's limit. */
export interface OperationStatus {
  readonly operationId: string
  readonly state: 'queued' | 'running' | 'waiting' | 'completed' | 'failed' | 'aborted' | 'interrupted'
  /** When it continues by itself, in milliseconds since the epoch, if it waits for the end of a limit. */
  readonly resumesAt?: number
  readonly finishReason?: FinishReason
  readonly usage?: OperationUsage
  readonly error?: ErrorData
}

/** What can be done with an agent of a harness. A call for more fails with a typed error. */
export interface HarnessCapabilities {
  /** Which tool calls `requireToolApproval` holds: all, only those the agent asks about itself, or none. */
  readonly approvals: 'all' | 'asks-only' | 'none'
  /** Whether all requests of a step are shown before the first answer: `requireToolApproval: 'batch'`. */
  readonly batchApprovals: boolean
  /** Whether the model learns of a declined call and continues. Otherwise the turn may end there. */
  readonly goesOnAfterDecline: boolean
  /** `AgentConfig.tools` */
  readonly consumerTools: boolean
  /** `AgentConfig.mcpServers` */
  readonly mcp: boolean
  readonly skills: boolean
  /** Whether tools can be found by a search instead of being offered all at once. */
  readonly toolSearch: boolean
  /** Whether `instructions` and `rules` replace the agent's own system prompt, are added to it, or cannot be given. */
  readonly instructions: 'replace' | 'append' | 'none'
  /** Images and files as input. `images`: no PDF files, and nothing but texts as context. */
  readonly attachments: 'all' | 'images' | 'none'
  /** `maxSteps` */
  readonly maxSteps: boolean
  /** Whether the tokens of a turn are counted, so that it can have a `budget` in tokens. */
  readonly usage: boolean
  /** `AgentHooks.onToolResult` */
  readonly toolResultHook: boolean
  /** Messages to an agent that works: `whenBusy: 'steer'`. */
  readonly steer: boolean
  readonly compaction: boolean
  /** Whether usage limits are reported with the time at which they end, so that a turn can wait: `onLimit: 'park'`. */
  readonly limits: boolean
  /** Whether wire events show requests and responses. */
  readonly wire: boolean
  /** The levels of `effort` that a turn can have. */
  readonly effort: readonly Effort[]
}

/**
 * Runs agents and their conversations. Every method refuses an agent or thread that it does not know. Threads run in
 * parallel; a thread runs one turn at a time.
 */
export interface AgentHarness {
  /** Stable: a harness does not read what another id stored. */
  readonly id: string
  readonly protocolVersion: number
  /** The harness's own features. Passed on without looking at them. */
  readonly extensions: unknown

  createAgent(
    agentId: string,
    projectRoot: string,
    connectivity: ModelConnectivityInfo,
    config: HarnessAgentConfig,
    options?: HarnessAgentOptions,
  ): Promise<void>
  /** Takes the whole new config. Unchanged servers stay connected, and a running turn is not disturbed. */
  updateAgent(
    agentId: string,
    connectivity: ModelConnectivityInfo,
    config: HarnessAgentConfig,
    options?: HarnessAgentOptions,
  ): Promise<void>
  /** Releases servers, processes and handles. The agent's threads are removed too. */
  destroyAgent(agentId: string): Promise<boolean>

  getMcpServerInfo(agentId: string): McpServerInfo[]
  reconnectMcpServer(agentId: string, serverName: string): Promise<void>
  refreshMcpAuth?(agentId: string, serverName: string, auth: McpAuth): Promise<void>

  /** Returns the id of the new thread, as do `cloneThread` and `compactThread`. */
  createThread(agentId: string): Promise<string>
  destroyThread(agentId: string, threadId: string): Promise<void>
  cloneThread(agentId: string, threadId: string): Promise<string>
  /** Creates a new thread that begins with a summary. The old one stays. */
  compactThread(agentId: string, threadId: string): Promise<string>
  getThreadIds(agentId: string): Promise<string[]>

  getMessages(agentId: string, threadId: string): Promise<ChatMessage[]>
  /** Adds messages without calling the model. */
  addMessages(agentId: string, threadId: string, messages: ChatMessage[]): Promise<void>
  clearMessages(agentId: string, threadId: string): Promise<void>

  /** Rejects input that cannot be sent before there is a stream. Later failures are events. */
  stream(
    agentId: string,
    threadId: string,
    input: string | ChatMessagePart[],
    options?: StreamOptions,
  ): Promise<ChatStreamResult>
  /** Returns the turn that still waits, e.g. after a restart. */
  resumeTurn?(agentId: string, threadId: string): ChatStreamResult | undefined
  cancelTurn?(agentId: string, threadId: string): Promise<void>
  /** Returns what became of a turn that was given an `operationId`; `undefined` if there is none with this id. */
  getOperation?(agentId: string, threadId: string, operationId: string): Promise<OperationStatus | undefined>
  /** Resolves when the operation is over. Rejects for an unknown id. */
  waitForOperation?(agentId: string, threadId: string, operationId: string): Promise<OperationStatus>
  /** Ends the operation, whether it is queued, working or waiting. Does nothing if it is over. */
  abortOperation?(agentId: string, threadId: string, operationId: string): Promise<void>
  /** What the agent can do, known before its first turn. */
  getCapabilities?(agentId: string): HarnessCapabilities
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
  /** Nothing is captured while nobody listens. */
  onWireCommunication?(callback: WireCommunicationEventCallback): Unsubscribe

  /** Closes every handle, so that the storage folder can be removed afterwards. */
  shutdown(): Promise<void>
}

export interface HarnessFactory<Harness extends AgentHarness = AgentHarness> {
  readonly protocolVersion: number
  /** The harness keeps its data below this folder, which exists. */
  create(storageRootFolder: string): Promise<Harness>
}

/** The type of harness that a factory builds. */
export type HarnessOf<Factory extends HarnessFactory> = Awaited<ReturnType<Factory['create']>>

declare const agentConfig: unique symbol

/** States at compile time which config a harness takes. Has no value at run time. */
export interface WithAgentConfig<Config extends AgentConfig> {
  readonly [agentConfig]?: Config
}

/** The config a harness takes: its own if it declares one, else the common one. */
export type ConfigOf<Harness> = Harness extends { readonly [agentConfig]?: infer Config extends AgentConfig }
  ? Config
  : AgentConfig
