import { z } from 'zod'
import type {
  CompactionContent,
  FileContent,
  HarnessMessageContent,
  ImageContent,
  NotificationContent,
  NotificationSummaryContent,
  OMObservationEndContent,
  OMObservationFailedContent,
  OMObservationStartContent,
  OMOperationType,
  OMThreadTitleUpdatedContent,
  ReactiveSignalContent,
  StateSignalContent,
  SystemReminderContent,
  TextContent,
  ThinkingContent,
  ToolCallContent,
  ToolResultContent,
} from '../../harness-content.ts'
import type { Wire } from '../../wire-form.ts'
import { blobRefSchema } from '../basics.ts'
import { exact, exactShape, type Schema, type Shape } from '../exact.ts'
import { listOf, mapOf, object, optional, taggedUnion } from '../fields.ts'
import { jsonObjectSchema, jsonValueSchema } from '../json.ts'

export const omOperationType: Schema<OMOperationType> = exact<OMOperationType>()(z.enum(['observation', 'reflection']))

/** The fields are shared: they make a content of a message and, with an address, an event. */
export const textContentFields: Shape<Wire<TextContent>> = exactShape<Wire<TextContent>>()({
  type: z.literal('text'),
  text: z.string(),
})

export const thinkingContentFields: Shape<Wire<ThinkingContent>> = exactShape<Wire<ThinkingContent>>()({
  type: z.literal('thinking'),
  thinking: z.string(),
})

export const toolCallContentFields: Shape<Wire<ToolCallContent>> = exactShape<Wire<ToolCallContent>>()({
  type: z.literal('tool_call'),
  id: z.string(),
  name: z.string(),
  args: jsonValueSchema,
})

export const toolResultContentFields: Shape<Wire<ToolResultContent>> = exactShape<Wire<ToolResultContent>>()({
  type: z.literal('tool_result'),
  id: z.string(),
  name: z.string(),
  result: jsonValueSchema,
  isError: z.boolean(),
  resultRef: optional(blobRefSchema),
  providerMetadata: optional(jsonValueSchema),
})

export const imageContentFields: Shape<Wire<ImageContent>> = exactShape<Wire<ImageContent>>()({
  type: z.literal('image'),
  data: z.string(),
  mimeType: z.string(),
  ref: optional(blobRefSchema),
  url: optional(z.string()),
})

export const fileContentFields: Shape<Wire<FileContent>> = exactShape<Wire<FileContent>>()({
  type: z.literal('file'),
  data: z.string(),
  mediaType: z.string(),
  filename: optional(z.string()),
  ref: optional(blobRefSchema),
  url: optional(z.string()),
})

export const systemReminderFields: Shape<Wire<SystemReminderContent>> = exactShape<Wire<SystemReminderContent>>()({
  type: z.literal('system_reminder'),
  message: z.string(),
  reminderType: optional(z.string()),
  path: optional(z.string()),
  precedesMessageId: optional(z.string()),
  gapText: optional(z.string()),
  gapMs: optional(z.number()),
  timestamp: optional(z.string()),
  goalMaxTurns: optional(z.number()),
  judgeModelId: optional(z.string()),
  goalEvaluation: optional(jsonValueSchema),
})

export const stateSignalFields: Shape<Wire<StateSignalContent>> = exactShape<Wire<StateSignalContent>>()({
  type: z.literal('state_signal'),
  id: optional(z.string()),
  stateId: z.string(),
  mode: z.enum(['snapshot', 'delta']),
  cacheKey: optional(z.string()),
  version: optional(z.number()),
  message: z.string(),
})

export const reactiveSignalFields: Shape<Wire<ReactiveSignalContent>> = exactShape<Wire<ReactiveSignalContent>>()({
  type: z.literal('reactive_signal'),
  id: optional(z.string()),
  tagName: z.string(),
  message: z.string(),
  attributes: optional(jsonObjectSchema),
  metadata: optional(jsonObjectSchema),
})

export const notificationFields: Shape<Wire<NotificationContent>> = exactShape<Wire<NotificationContent>>()({
  type: z.literal('notification'),
  id: optional(z.string()),
  notificationId: optional(z.string()),
  message: z.string(),
  source: optional(z.string()),
  kind: optional(z.string()),
  priority: optional(z.enum(['low', 'medium', 'high', 'urgent'])),
  status: optional(z.enum(['pending', 'delivered', 'seen', 'dismissed', 'archived', 'discarded'])),
  attributes: optional(jsonObjectSchema),
  metadata: optional(jsonObjectSchema),
})

export const notificationSummaryFields: Shape<Wire<NotificationSummaryContent>> = exactShape<
  Wire<NotificationSummaryContent>
>()({
  type: z.literal('notification_summary'),
  id: optional(z.string()),
  message: z.string(),
  pending: z.number(),
  bySource: mapOf(z.number()),
  byPriority: mapOf(z.number()),
  notificationIds: listOf(z.string()),
})

const omObservationStart: Schema<Wire<OMObservationStartContent>> = exact<Wire<OMObservationStartContent>>()(
  object({
    type: z.literal('om_observation_start'),
    tokensToObserve: z.number(),
    operationType: optional(omOperationType),
  }),
)

const omObservationEnd: Schema<Wire<OMObservationEndContent>> = exact<Wire<OMObservationEndContent>>()(
  object({
    type: z.literal('om_observation_end'),
    tokensObserved: z.number(),
    observationTokens: z.number(),
    durationMs: z.number(),
    operationType: optional(omOperationType),
    observations: optional(z.string()),
    currentTask: optional(z.string()),
    suggestedResponse: optional(z.string()),
  }),
)

const omObservationFailed: Schema<Wire<OMObservationFailedContent>> = exact<Wire<OMObservationFailedContent>>()(
  object({
    type: z.literal('om_observation_failed'),
    error: z.string(),
    tokensAttempted: optional(z.number()),
    operationType: optional(omOperationType),
  }),
)

const omThreadTitleUpdated: Schema<Wire<OMThreadTitleUpdatedContent>> = exact<Wire<OMThreadTitleUpdatedContent>>()(
  object({
    type: z.literal('om_thread_title_updated'),
    threadId: z.string(),
    oldTitle: optional(z.string()),
    newTitle: z.string(),
  }),
)

const compaction: Schema<Wire<CompactionContent>> = exact<Wire<CompactionContent>>()(
  object({
    type: z.literal('compaction'),
    messages: z.number(),
    tokensBefore: z.number(),
    tokensAfter: z.number(),
  }),
)

export const harnessMessageContentSchema: Schema<Wire<HarnessMessageContent>> = exact<Wire<HarnessMessageContent>>()(
  taggedUnion([
    object(textContentFields),
    object(thinkingContentFields),
    object(toolCallContentFields),
    object(toolResultContentFields),
    object(imageContentFields),
    object(fileContentFields),
    object(systemReminderFields),
    object(stateSignalFields),
    object(reactiveSignalFields),
    object(notificationFields),
    object(notificationSummaryFields),
    omObservationStart,
    omObservationEnd,
    omObservationFailed,
    omThreadTitleUpdated,
    compaction,
  ]),
)
