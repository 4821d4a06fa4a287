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

/** The message and part a piece belongs to. `partIndex` is stable: parts are never moved or removed. */
export interface ContentAddress {
  readonly messageId: string
  readonly partIndex: number
}

/** `text` holds only the new piece. The pieces of a part add up to its text; the same goes for `thinking`. */
export interface TextChunkEvent extends TextContent, ContentAddress {}

export interface ThinkingChunkEvent extends ThinkingContent, ContentAddress {}

export interface ToolCallChunkEvent extends ToolCallContent, ContentAddress {}

export interface ToolResultChunkEvent extends ToolResultContent, ContentAddress {}

export interface ImageChunkEvent extends ImageContent, ContentAddress {}

export interface FileChunkEvent extends FileContent, ContentAddress {}

/** Signals in a message have an address. A notification still in the inbox has none. */
export interface SystemReminderEvent extends SystemReminderContent, Partial<ContentAddress> {}

export interface StateSignalEvent extends StateSignalContent, Partial<ContentAddress> {}

export interface ReactiveSignalEvent extends ReactiveSignalContent, Partial<ContentAddress> {}

export interface NotificationEvent extends NotificationContent, Partial<ContentAddress> {}

export interface NotificationSummaryEvent extends NotificationSummaryContent, Partial<ContentAddress> {}

/** The raw pieces that messages are made of. Most UIs render `message_update` or the display state instead. */
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
