import type { ToolAnnotations } from './agent-event.ts'
import type { LogLevel } from './driver.ts'
import type { McpServerErrorDetail, McpServerStatus } from './mcp.ts'
import type { FinishReason, UsageMetadata } from './usage.ts'

export type Unsubscribe = () => void

/** Where and when something happened. */
export interface TelemetryScope {
  /** Milliseconds since the epoch. */
  readonly timestamp: number
  readonly agentId: string
  readonly sessionId?: string
}

interface FailureFields {
  readonly errorName: string
  readonly errorCode?: string
}

interface Timed {
  readonly durationMs: number
}

interface ToolRef {
  readonly toolCallId: string
  readonly toolName: string
  readonly serverName?: string
  /** The hints of the tool, such as whether it only reads. */
  readonly annotations?: ToolAnnotations
}

interface ServerRef {
  readonly serverName: string
}

interface SourceRef {
  readonly sourceSessionId: string
}

/** The payload of each event type: numbers and names, never prompts, arguments, results or error messages. */
export interface TelemetryPayloads {
  'agent-created': object
  'agent-restored': object
  'agent-restore-failed': FailureFields
  'agent-config-updated': { readonly changedFields: readonly string[] }
  'agent-destroyed': object
  'chat-session-created': object
  'chat-session-cloned': SourceRef
  'chat-session-compacted': SourceRef
  'chat-session-destroyed': object
  'chat-stream-started': object
  /** Exactly one of the next three ends a turn. `usage` is that of the whole turn. */
  'chat-stream-completed': Timed & { readonly finishReason: FinishReason; readonly usage?: UsageMetadata }
  'chat-stream-failed': Timed & FailureFields & { readonly usage?: UsageMetadata }
  'chat-stream-aborted': Timed & { readonly usage?: UsageMetadata }
  'step-completed': {
    readonly stepIndex: number
    readonly finishReason: FinishReason
    readonly usage?: UsageMetadata
  }
  'tool-call-started': ToolRef
  'tool-call-completed': ToolRef & Timed & { readonly isError: boolean }
  'tool-approval-requested': ToolRef
  'tool-approval-resolved': ToolRef & { readonly decision: 'approved' | 'declined'; readonly waitedMs: number }
  'mcp-server-discovery-started': ServerRef
  'mcp-server-discovery-completed': ServerRef & Timed & { readonly toolCount: number }
  'mcp-server-discovery-failed': ServerRef & Timed & { readonly errorDetail: McpServerErrorDetail }
  'mcp-server-reconnect-started': ServerRef
  'mcp-server-reconnect-completed': ServerRef & Timed & { readonly status: McpServerStatus }
  'mcp-tool-call-completed': ServerRef & Timed & { readonly toolName: string; readonly isError: boolean }
  /** `resetsAt`: in milliseconds since the epoch, if it is known. */
  'usage-limit': { readonly name: string; readonly status: 'ok' | 'near' | 'reached'; readonly resetsAt?: number }
  'llm-retry': { readonly attempt: number; readonly delayMs: number; readonly status?: number }
}

export type TelemetryEventType = keyof TelemetryPayloads

export type TelemetryEvent = {
  [Type in TelemetryEventType]: TelemetryScope & { readonly type: Type } & TelemetryPayloads[Type]
}[TelemetryEventType]

export type TelemetryEventCallback = (event: TelemetryEvent) => void

/** A line of the structured log. `level` is also the name of a console method. */
export interface AgentLogRecord {
  readonly level: LogLevel
  readonly message: string
  readonly context?: Record<string, unknown>
  /** Milliseconds since the epoch. */
  readonly timestamp: number
  readonly agentId?: string
  readonly sessionId?: string
}

export type AgentLogCallback = (record: AgentLogRecord) => void

/** Headers that contain secrets are masked. */
export interface LlmRequestEvent extends TelemetryScope {
  readonly type: 'llm-request'
  /** Links the request to its one response. */
  readonly requestId: string
  readonly url: string
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: unknown
}

export interface LlmResponseEvent extends TelemetryScope {
  readonly type: 'llm-response'
  readonly requestId: string
  /** Absent when there was no answer. */
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
  readonly durationMs: number
  readonly error?: Error
}

/** The harness cannot show its requests. At best it names its own debug log. */
export interface WireMonitoringNotSupportedEvent extends TelemetryScope {
  readonly type: 'wire-monitoring-not-supported'
  readonly debugLogPath?: string
}

export type WireCommunicationEvent = LlmRequestEvent | LlmResponseEvent | WireMonitoringNotSupportedEvent

export type WireCommunicationEventCallback = (event: WireCommunicationEvent) => void
