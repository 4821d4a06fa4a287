import type { ActivityNote } from './activity.ts'
import type { EventMeta, NativeRef, ToolAnnotations } from './agent-event.ts'
import type { BlobRef } from './blob.ts'
import type { CallState } from './call.ts'
import type { ErrorData } from './error-data.ts'
import type { JsonObject, JsonValue } from './json.ts'
import type { List } from './list.ts'
import type { FinishReason, UsageMetadata } from './usage.ts'

export type MessageRole = 'system' | 'user' | 'assistant' | 'tool'

/** `open`: still growing. `interrupted`: cut off before its end. Absent: complete. */
export type PartState = 'open' | 'interrupted'

export interface PartBase {
  /** The part's number within its message, as a string: parts are never moved or removed. */
  readonly id: string
  readonly state?: PartState
  readonly parentToolCallId?: string
  readonly native?: NativeRef
  readonly meta?: EventMeta
}

export interface TextPart extends PartBase {
  readonly type: 'text'
  readonly text: string
  /** Set when the text is large: the blob that holds it. `text` then holds only its beginning. */
  readonly ref?: BlobRef
}

export interface ReasoningPart extends PartBase {
  readonly type: 'reasoning'
  readonly text: string
}

export interface ToolCallPart extends PartBase {
  readonly type: 'tool-call'
  readonly toolCallId: string
  readonly toolName: string
  readonly args: JsonObject
  /** The input's text while it streams in; gone when `args` is complete. */
  readonly inputText?: string
  readonly serverName?: string
  readonly annotations?: ToolAnnotations
  readonly activity?: ActivityNote
  readonly call: CallState
}

export interface ToolResultPart extends PartBase {
  readonly type: 'tool-result'
  readonly toolCallId: string
  readonly toolName: string
  readonly result: JsonValue
  /** Set instead of `result` when the result is large. */
  readonly resultRef?: BlobRef
  readonly isError?: boolean
  readonly error?: ErrorData
  /** Live output while the tool runs, its last 64 KB; gone when the result is there. */
  readonly output?: string
  readonly activity?: ActivityNote
}

export interface ImagePart extends PartBase {
  readonly type: 'image'
  readonly mimeType: string
  /** Base64 without a `data:` prefix; empty when `ref` or `url` is set. */
  readonly data: string
  readonly ref?: BlobRef
  /** The address of the file, when only that is known. */
  readonly url?: string
  readonly fileName?: string
}

export interface FilePart extends PartBase {
  readonly type: 'file'
  readonly mimeType: string
  readonly data: string
  readonly ref?: BlobRef
  readonly url?: string
  readonly fileName?: string
}

export type SignalKind =
  | 'system_reminder'
  | 'state_signal'
  | 'reactive_signal'
  | 'notification'
  | 'notification_summary'
  | 'om_observation_start'
  | 'om_observation_end'
  | 'om_observation_failed'
  | 'om_thread_title_updated'
  | 'compaction'

/** Something the control layer put into the conversation: neither the user's nor the agent's words. */
export interface SignalPart extends PartBase {
  readonly type: 'signal'
  readonly kind: SignalKind
  /** What the model reads. */
  readonly text: string
  readonly data: JsonObject
}

export type Part = TextPart | ReasoningPart | ToolCallPart | ToolResultPart | ImagePart | FilePart | SignalPart

/** Whether a message only tells people what happened to the conversation. No model is sent it. */
export function isShownOnly({ parts }: { readonly parts: readonly Part[] }): boolean {
  return parts.length > 0 && parts.every((part) => part.type === 'signal' && part.kind === 'compaction')
}

/** `open` while the agent speaks or its calls run; `interrupted` when the run ended before the message did. */
export type MessageState = 'open' | 'done' | 'interrupted'

export interface MessageFields {
  readonly id: string
  readonly role: MessageRole
  /** The seq at which the message began: its place in the lineage. */
  readonly order: number
  /** Milliseconds since the epoch. */
  readonly at: number
  readonly state: MessageState
  readonly run?: string
  readonly turn?: string
  readonly step?: number
  /** The agent, person or client that wrote the message. */
  readonly by?: string
  /** The parent's call that a foreign subagent belongs to. */
  readonly parentToolCallId?: string
  readonly finishReason?: FinishReason
  readonly usage?: UsageMetadata
  readonly error?: ErrorData
  readonly native?: NativeRef
  readonly meta?: EventMeta
}

/** A message as the state holds it. */
export interface ThreadMessage extends MessageFields {
  readonly parts: List<Part>
}

/** A `ThreadMessage` as JSON: in view rows, ops and snapshots. */
export interface StoredMessage extends MessageFields {
  readonly parts: readonly Part[]
}
