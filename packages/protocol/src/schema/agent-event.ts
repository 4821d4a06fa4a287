import { z } from 'zod'
import type {
  EventExtras,
  EventMeta,
  FinishEvent,
  NativeRef,
  StartEvent,
  StepFinishEvent,
  StepStartEvent,
  ToolAnnotations,
  ToolApprovalRequestEvent,
  ToolCallDeltaEvent,
  ToolCallInfo,
  ToolOrigin,
  ToolProgressEvent,
} from '../agent-event.ts'
import type { JsonValue } from '../json.ts'
import { activityNoteSchema } from './activity.ts'
import { finishReasonSchema, usageMetadataSchema } from './basics.ts'
import { exact, exactShape, type Schema, type Shape } from './exact.ts'
import { object, optional } from './fields.ts'
import { jsonObjectSchema, jsonValueSchema } from './json.ts'

export const toolAnnotationsSchema: Schema<ToolAnnotations> = exact<ToolAnnotations>()(
  object({
    title: optional(z.string()),
    readOnlyHint: optional(z.boolean()),
    destructiveHint: optional(z.boolean()),
    idempotentHint: optional(z.boolean()),
    openWorldHint: optional(z.boolean()),
  }),
)

export const nativeRefSchema: Schema<NativeRef> = exact<NativeRef>()(
  object({
    sessionId: optional(z.string()),
    messageId: optional(z.string()),
    turnId: optional(z.string()),
    itemId: optional(z.string()),
  }),
)

// The type has to allow `undefined` because its named fields are optional. A value never contains it.
const metaValue = jsonValueSchema as Schema<JsonValue | undefined>

export const eventMetaSchema: Schema<EventMeta> = exact<EventMeta>()(
  z
    .object({
      interrupted: optional(z.literal(true)),
      invalidInput: optional(z.string()),
      provider: optional(jsonObjectSchema),
      synthetic: optional(z.literal(true)),
      redacted: optional(z.literal(true)),
      erased: optional(z.literal(true)),
    })
    .catchall(metaValue),
)

/** The fields that all events share. */
export const extras: Shape<EventExtras> = exactShape<EventExtras>()({
  partId: optional(z.string()),
  messageId: optional(z.string()),
  parentToolCallId: optional(z.string()),
  native: optional(nativeRefSchema),
  activity: optional(activityNoteSchema),
  meta: optional(eventMetaSchema),
})

const origin: Shape<ToolOrigin> = exactShape<ToolOrigin>()({
  annotations: optional(toolAnnotationsSchema),
  serverName: optional(z.string()),
})

const call: Shape<ToolCallInfo> = exactShape<ToolCallInfo>()({
  toolCallId: z.string(),
  toolName: z.string(),
  args: jsonObjectSchema,
})

export const toolCallInfoSchema: Schema<ToolCallInfo> = exact<ToolCallInfo>()(object(call))

/** These events are also kept in batches, with more fields. Both use these shapes, so that they stay the same. */
export const toolCallDeltaFields: Shape<ToolCallDeltaEvent> = exactShape<ToolCallDeltaEvent>()({
  ...extras,
  type: z.literal('tool-call-delta'),
  toolCallId: z.string(),
  toolName: optional(z.string()),
  argsTextDelta: z.string(),
})

export const toolProgressFields: Shape<ToolProgressEvent> = exactShape<ToolProgressEvent>()({
  ...extras,
  type: z.literal('tool-progress'),
  toolCallId: z.string(),
  toolName: z.string(),
  output: optional(z.string()),
})

export const startEventSchema: Schema<StartEvent> = exact<StartEvent>()(object({ ...extras, type: z.literal('start') }))
export const toolCallDeltaEventSchema: Schema<ToolCallDeltaEvent> = exact<ToolCallDeltaEvent>()(
  object(toolCallDeltaFields),
)
export const toolApprovalRequestEventSchema: Schema<ToolApprovalRequestEvent> = exact<ToolApprovalRequestEvent>()(
  object({ ...extras, ...origin, type: z.literal('tool-approval-request'), toolCall: toolCallInfoSchema }),
)
export const toolProgressEventSchema: Schema<ToolProgressEvent> = exact<ToolProgressEvent>()(object(toolProgressFields))
export const stepStartEventSchema: Schema<StepStartEvent> = exact<StepStartEvent>()(
  object({ ...extras, type: z.literal('step-start'), stepIndex: z.number() }),
)
export const stepFinishEventSchema: Schema<StepFinishEvent> = exact<StepFinishEvent>()(
  object({
    ...extras,
    type: z.literal('step-finish'),
    stepIndex: z.number(),
    finishReason: finishReasonSchema,
    usage: optional(usageMetadataSchema),
  }),
)
export const finishEventSchema: Schema<FinishEvent> = exact<FinishEvent>()(
  object({
    ...extras,
    type: z.literal('finish'),
    finishReason: finishReasonSchema,
    usage: optional(usageMetadataSchema),
  }),
)
