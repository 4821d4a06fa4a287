import type {
  FileContent,
  ImageContent,
  NotificationContent,
  NotificationSummaryContent,
  ReactiveSignalContent,
  StateSignalContent,
  SystemReminderContent,
  TextContent,
  ThinkingContent,
  ToolCallContent,
  ToolResultContent,
} from '../harness-content.ts'

/** Where a piece belongs. The index counts the message's parts, which are never moved or removed. */
export interface ContentAddress {
  readonly messageId: string
  readonly partIndex: number
}

/** `text` is what came now: the pieces of one part add up to its text. So do those of `thinking`. */
export interface TextChunkEvent extends TextContent, ContentAddress {}

export interface ThinkingChunkEvent extends ThinkingContent, ContentAddress {}

export interface ToolCallChunkEvent extends ToolCallContent, ContentAddress {}

export interface ToolResultChunkEvent extends ToolResultContent, ContentAddress {}

export interface ImageChunkEvent extends ImageContent, ContentAddress {}

export interface FileChunkEvent extends FileContent, ContentAddress {}

/** Signals have an address when they stand in a message; a notification in the inbox does not yet. */
export interface SystemReminderEvent extends SystemReminderContent, Partial<ContentAddress> {}

export interface StateSignalEvent extends StateSignalContent, Partial<ContentAddress> {}

export interface ReactiveSignalEvent extends ReactiveSignalContent, Partial<ContentAddress> {}

export interface NotificationEvent extends NotificationContent, Partial<ContentAddress> {}

export interface NotificationSummaryEvent extends NotificationSummaryContent, Partial<ContentAddress> {}

/** The raw pieces of which messages are made. Most UIs render `message_update` or the display state instead. */
export type ContentEvent =
  | TextChunkEvent
  | ThinkingChunkEvent
  | ToolCallChunkEvent
  | ToolResultChunkEvent
  | ImageChunkEvent
  | FileChunkEvent
  | SystemReminderEvent
  | StateSignalEvent
  | ReactiveSignalEvent
  | NotificationEvent
  | NotificationSummaryEvent
