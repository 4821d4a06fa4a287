import { z } from 'zod'
import type { CallOutcome, CallState } from '../call.ts'
import type {
  FilePart,
  ImagePart,
  MessageFields,
  MessageRole,
  Part,
  PartBase,
  ReasoningPart,
  SignalPart,
  StoredMessage,
  TextPart,
  ToolCallPart,
  ToolResultPart,
} from '../message.ts'
import { activityNoteSchema } from './activity.ts'
import { eventMetaSchema, nativeRefSchema, toolAnnotationsSchema } from './agent-event.ts'
import { blobRefSchema, errorDataSchema, finishReasonSchema, usageMetadataSchema } from './basics.ts'
import { answerSchema } from './control.ts'
import { exact, exactShape, type Schema, type Shape } from './exact.ts'
import { listOf, object, optional, seq, taggedUnion } from './fields.ts'
import { jsonObjectSchema, jsonValueSchema } from './json.ts'

export const callOutcomeSchema: Schema<CallOutcome> = exact<CallOutcome>()(
  z.enum(['ok', 'error', 'denied', 'aborted', 'in-doubt']),
)

export const callStateSchema: Schema<CallState> = exact<CallState>()(
  object({
    stage: z.enum(['ordered', 'waiting', 'started', 'ended']),
    outcome: optional(callOutcomeSchema),
    attempt: optional(z.number()),
    idempotencyKey: optional(z.string()),
    waitId: optional(z.string()),
    hash: optional(z.string()),
    judgedAs: optional(listOf(z.string())),
    preconditions: optional(jsonObjectSchema),
    interrupted: optional(z.literal(true)),
    answer: optional(answerSchema),
    resume: optional(answerSchema),
  }),
)

const base: Shape<PartBase> = exactShape<PartBase>()({
  id: z.string(),
  state: optional(z.enum(['open', 'interrupted'])),
  parentToolCallId: optional(z.string()),
  native: optional(nativeRefSchema),
  meta: optional(eventMetaSchema),
})

const media = {
  mimeType: z.string(),
  data: z.string(),
  ref: optional(blobRefSchema),
  url: optional(z.string()),
  fileName: optional(z.string()),
}

export const textPartSchema: Schema<TextPart> = exact<TextPart>()(
  object({ ...base, type: z.literal('text'), text: z.string(), ref: optional(blobRefSchema) }),
)

export const reasoningPartSchema: Schema<ReasoningPart> = exact<ReasoningPart>()(
  object({ ...base, type: z.literal('reasoning'), text: z.string() }),
)

export const toolCallPartSchema: Schema<ToolCallPart> = exact<ToolCallPart>()(
  object({
    ...base,
    type: z.literal('tool-call'),
    toolCallId: z.string(),
    toolName: z.string(),
    args: jsonObjectSchema,
    inputText: optional(z.string()),
    serverName: optional(z.string()),
    annotations: optional(toolAnnotationsSchema),
    activity: optional(activityNoteSchema),
    call: callStateSchema,
  }),
)

export const toolResultPartSchema: Schema<ToolResultPart> = exact<ToolResultPart>()(
  object({
    ...base,
    type: z.literal('tool-result'),
    toolCallId: z.string(),
    toolName: z.string(),
    result: jsonValueSchema,
    resultRef: optional(blobRefSchema),
    isError: optional(z.boolean()),
    error: optional(errorDataSchema),
    output: optional(z.string()),
    activity: optional(activityNoteSchema),
  }),
)

export const imagePartSchema: Schema<ImagePart> = exact<ImagePart>()(
  object({ ...base, ...media, type: z.literal('image') }),
)

export const filePartSchema: Schema<FilePart> = exact<FilePart>()(
  object({ ...base, ...media, type: z.literal('file') }),
)

export const signalPartSchema: Schema<SignalPart> = exact<SignalPart>()(
  object({
    ...base,
    type: z.literal('signal'),
    kind: z.enum([
      'system_reminder',
      'state_signal',
      'reactive_signal',
      'notification',
      'notification_summary',
      'om_observation_start',
      'om_observation_end',
      'om_observation_failed',
      'om_thread_title_updated',
      'compaction',
    ]),
    text: z.string(),
    data: jsonObjectSchema,
  }),
)

export const partSchema: Schema<Part> = exact<Part>()(
  taggedUnion([
    textPartSchema,
    reasoningPartSchema,
    toolCallPartSchema,
    toolResultPartSchema,
    imagePartSchema,
    filePartSchema,
    signalPartSchema,
  ]),
)

export const messageRoleSchema: Schema<MessageRole> = exact<MessageRole>()(
  z.enum(['system', 'user', 'assistant', 'tool']),
)

const messageFields: Shape<MessageFields> = exactShape<MessageFields>()({
  id: z.string(),
  role: messageRoleSchema,
  order: seq,
  at: z.number(),
  state: z.enum(['open', 'done', 'interrupted']),
  run: optional(z.string()),
  turn: optional(z.string()),
  step: optional(z.number()),
  by: optional(z.string()),
  parentToolCallId: optional(z.string()),
  finishReason: optional(finishReasonSchema),
  usage: optional(usageMetadataSchema),
  error: optional(errorDataSchema),
  native: optional(nativeRefSchema),
  meta: optional(eventMetaSchema),
})

export const storedMessageSchema: Schema<StoredMessage> = exact<StoredMessage>()(
  object({ ...messageFields, parts: listOf(partSchema) }),
)
