import type { BlobRef } from './blob.ts'

export interface TextContent {
  readonly type: 'text'
  readonly text: string
}

export interface ThinkingContent {
  readonly type: 'thinking'
  readonly thinking: string
}

export interface ToolCallContent {
  readonly type: 'tool_call'
  readonly id: string
  readonly name: string
  readonly args: unknown
}

export interface ToolResultContent {
  readonly type: 'tool_result'
  readonly id: string
  readonly name: string
  readonly result: unknown
  readonly isError: boolean
  /** Set when the result is large: the blob that holds it. `result` then holds its beginning. */
  readonly resultRef?: BlobRef
  readonly providerMetadata?: unknown
}

export interface ImageContent {
  readonly type: 'image'
  /** Base64; empty when `ref` or `url` is set. */
  readonly data: string
  readonly mimeType: string
  readonly ref?: BlobRef
  /** The address of the file, when only that is known. */
  readonly url?: string
}

export interface FileContent {
  readonly type: 'file'
  readonly data: string
  readonly mediaType: string
  readonly filename?: string
  readonly ref?: BlobRef
  readonly url?: string
}

export interface SystemReminderContent {
  readonly type: 'system_reminder'
  readonly message: string
  readonly reminderType?: string
  readonly path?: string
  readonly precedesMessageId?: string
  readonly gapText?: string
  readonly gapMs?: number
  readonly timestamp?: string
  readonly goalMaxTurns?: number
  readonly judgeModelId?: string
  readonly goalEvaluation?: unknown
}

export interface StateSignalContent {
  readonly type: 'state_signal'
  readonly id?: string
  readonly stateId: string
  readonly mode: 'snapshot' | 'delta'
  readonly cacheKey?: string
  readonly version?: number
  readonly message: string
}

export interface ReactiveSignalContent {
  readonly type: 'reactive_signal'
  readonly id?: string
  readonly tagName: string
  readonly message: string
  readonly attributes?: Readonly<Record<string, unknown>>
  readonly metadata?: Readonly<Record<string, unknown>>
}

export type NotificationPriority = 'low' | 'medium' | 'high' | 'urgent'

export type NotificationStatus = 'pending' | 'delivered' | 'seen' | 'dismissed' | 'archived' | 'discarded'

export interface NotificationContent {
  readonly type: 'notification'
  readonly id?: string
  readonly notificationId?: string
  readonly message: string
  readonly source?: string
  readonly kind?: string
  readonly priority?: NotificationPriority
  readonly status?: NotificationStatus
  readonly attributes?: Readonly<Record<string, unknown>>
  readonly metadata?: Readonly<Record<string, unknown>>
}

export interface NotificationSummaryContent {
  readonly type: 'notification_summary'
  readonly id?: string
  readonly message: string
  readonly pending: number
  readonly bySource: Readonly<Record<string, number>>
  readonly byPriority: Readonly<Record<string, number>>
  readonly notificationIds: readonly string[]
}

export type OMOperationType = 'observation' | 'reflection'

export interface OMObservationStartContent {
  readonly type: 'om_observation_start'
  readonly tokensToObserve: number
  readonly operationType?: OMOperationType
}

export interface OMObservationEndContent {
  readonly type: 'om_observation_end'
  readonly tokensObserved: number
  readonly observationTokens: number
  readonly durationMs: number
  readonly operationType?: OMOperationType
  readonly observations?: string
  readonly currentTask?: string
  readonly suggestedResponse?: string
}

export interface OMObservationFailedContent {
  readonly type: 'om_observation_failed'
  readonly error: string
  readonly tokensAttempted?: number
  readonly operationType?: OMOperationType
}

export interface OMThreadTitleUpdatedContent {
  readonly type: 'om_thread_title_updated'
  readonly threadId: string
  readonly oldTitle?: string
  readonly newTitle: string
}

/** A summary took the place of older messages in what the model is sent. The messages themselves stay. */
export interface CompactionContent {
  readonly type: 'compaction'
  /** How many messages the summary replaces. */
  readonly messages: number
  readonly tokensBefore: number
  readonly tokensAfter: number
}

/** A signal that the control layer put into a conversation. */
export type SignalContent =
  | SystemReminderContent
  | StateSignalContent
  | ReactiveSignalContent
  | NotificationContent
  | NotificationSummaryContent
  | OMObservationStartContent
  | OMObservationEndContent
  | OMObservationFailedContent
  | OMThreadTitleUpdatedContent
  | CompactionContent

/** One piece of a `HarnessMessage`. */
export type HarnessMessageContent =
  | TextContent
  | ThinkingContent
  | ToolCallContent
  | ToolResultContent
  | ImageContent
  | FileContent
  | SignalContent
