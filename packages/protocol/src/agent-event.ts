import type { ActivityNote } from './activity.ts'
import type { EventOf } from './control-record.ts'
import type { JsonObject, JsonValue } from './json.ts'
import type { FinishReason, UsageMetadata } from './usage.ts'

/** Behaviour hints of a tool, as MCP declares them. Absent means "not declared", not "false". */
export interface ToolAnnotations {
  readonly title?: string
  readonly readOnlyHint?: boolean
  readonly destructiveHint?: boolean
  readonly idempotentHint?: boolean
  readonly openWorldHint?: boolean
}

/** The position of an event in the agent's native session, where a later turn resumes. */
export interface NativeRef {
  readonly sessionId?: string
  readonly messageId?: string
  readonly turnId?: string
  readonly itemId?: string
}

export interface EventMeta {
  /** The part was cut off before its end. */
  readonly interrupted?: true
  /** The raw tool input when it was not JSON; `args` is empty then. */
  readonly invalidInput?: string
  /** What the provider needs back unchanged with the next request, such as reasoning signatures. */
  readonly provider?: JsonObject
  /** The event is ours: it closes something that the agent left open. */
  readonly synthetic?: true
  /** The content differs from what was said: something was redacted before it was written. */
  readonly redacted?: true
  /** The content was erased on request. */
  readonly erased?: true
  readonly [key: string]: JsonValue | undefined
}

// The events that are also records follow from `EVENT_RECORDS`.

/** What an agent event may carry beyond the public chat event. */
export interface EventExtras {
  readonly partId?: string
  readonly messageId?: string
  readonly parentToolCallId?: string
  readonly native?: NativeRef
  readonly activity?: ActivityNote
  readonly meta?: EventMeta
}

export interface ToolCallInfo {
  readonly toolCallId: string
  readonly toolName: string
  readonly args: JsonObject
}

export interface ToolOrigin {
  readonly annotations?: ToolAnnotations
  /** Set when the tool came from an MCP server. */
  readonly serverName?: string
}

export interface StartEvent extends EventExtras {
  readonly type: 'start'
}

export type TextDeltaEvent = EventOf<'text-delta'>

export type ReasoningDeltaEvent = EventOf<'reasoning-delta'>

/**
 * A file that the agent made as a part of its message, such as an image. `data` is base64 without a `data:` prefix, and
 * empty when the file has a `ref` (the blob that holds a large one) or only a `url` is known.
 */
export type FileEvent = EventOf<'file'>

export type ToolCallEvent = EventOf<'tool-call'>

export interface ToolCallDeltaEvent extends EventExtras {
  readonly type: 'tool-call-delta'
  readonly toolCallId: string
  readonly toolName?: string
  readonly argsTextDelta: string
}

export interface ToolApprovalRequestEvent extends EventExtras, ToolOrigin {
  readonly type: 'tool-approval-request'
  readonly toolCall: ToolCallInfo
}

export type ToolResultEvent = EventOf<'tool-result'>

export interface ToolProgressEvent extends EventExtras {
  readonly type: 'tool-progress'
  readonly toolCallId: string
  readonly toolName: string
  readonly output?: string
}

/**
 * What the model was sent besides the conversation. An agent that knows it reports it in `meta.request` of its
 * `step-start`; equal content is stored once.
 */
export type StepRequest = {
  readonly system?: string
  /** The tool definitions, in the order in which they were sent. */
  readonly tools?: JsonValue
  readonly model?: string
}

export interface StepStartEvent extends EventExtras {
  readonly type: 'step-start'
  readonly stepIndex: number
}

export interface StepFinishEvent extends EventExtras {
  readonly type: 'step-finish'
  readonly stepIndex: number
  readonly finishReason: FinishReason
  readonly usage?: UsageMetadata
}

export type ErrorEvent = EventOf<'error'>

/** The one terminal event of a turn. */
export interface FinishEvent extends EventExtras {
  readonly type: 'finish'
  readonly finishReason: FinishReason
  readonly usage?: UsageMetadata
}

/** What any agent emits while it takes a turn: native loop, CLI or ACP peer. */
export type AgentEvent =
  | StartEvent
  | TextDeltaEvent
  | ReasoningDeltaEvent
  | FileEvent
  | ToolCallEvent
  | ToolCallDeltaEvent
  | ToolApprovalRequestEvent
  | ToolResultEvent
  | ToolProgressEvent
  | StepStartEvent
  | StepFinishEvent
  | ErrorEvent
  | FinishEvent

export type AgentEventType = AgentEvent['type']
