import { z } from 'zod'
import type { ChatEvent, ChatToolOrigin } from '../chat-event.ts'
import type { ChatMessage, ChatMessagePart, ChatToolCallInfo, ChatToolResultInfo } from '../chat-message.ts'
import type { Wire } from '../wire-form.ts'
import { toolAnnotationsSchema } from './agent-event.ts'
import { blobRefSchema, errorDataSchema, finishReasonSchema, usageMetadataSchema } from './basics.ts'
import { exact, exactShape, type Schema, type Shape } from './exact.ts'
import { listOf, object, optional, taggedUnion } from './fields.ts'
import { isoDate } from './harness/message.ts'
import { jsonObjectSchema, jsonValueSchema } from './json.ts'
import { messageRoleSchema } from './message.ts'

const call: Shape<Wire<ChatToolCallInfo>> = exactShape<Wire<ChatToolCallInfo>>()({
  toolCallId: z.string(),
  toolName: z.string(),
  args: jsonObjectSchema,
})

const result: Shape<Wire<ChatToolResultInfo>> = exactShape<Wire<ChatToolResultInfo>>()({
  toolCallId: z.string(),
  toolName: z.string(),
  result: jsonValueSchema,
  isError: optional(z.boolean()),
  error: optional(errorDataSchema),
})

const origin: Shape<Wire<ChatToolOrigin>> = exactShape<Wire<ChatToolOrigin>>()({
  annotations: optional(toolAnnotationsSchema),
  serverName: optional(z.string()),
})

/** Accepts any string. The type names some values only for the editor's completion. */
function openText<T extends string>(): Schema<T> {
  return z.string() as unknown as Schema<T>
}

const media = {
  data: z.string(),
  fileName: optional(z.string()),
  ref: optional(blobRefSchema),
  url: optional(z.string()),
}

export const chatMessagePartSchema: Schema<Wire<ChatMessagePart>> = exact<Wire<ChatMessagePart>>()(
  taggedUnion([
    object({ type: z.literal('text'), text: z.string() }),
    object({ type: z.literal('reasoning'), text: z.string() }),
    object({ type: z.literal('tool-call'), ...call }),
    object({ type: z.literal('tool-result'), ...result, resultRef: optional(blobRefSchema) }),
    object({ type: z.literal('image'), mimeType: openText<'image/png' | 'image/jpeg' | (string & {})>(), ...media }),
    object({ type: z.literal('file'), mimeType: openText<'application/pdf' | (string & {})>(), ...media }),
  ]),
)

export const chatMessageSchema: Schema<Wire<ChatMessage>> = exact<Wire<ChatMessage>>()(
  object({
    id: z.string(),
    role: messageRoleSchema,
    content: z.union([z.string(), listOf(chatMessagePartSchema)]),
    createdAt: optional(isoDate),
  }),
)

export const chatEventSchema: Schema<Wire<ChatEvent>> = exact<Wire<ChatEvent>>()(
  taggedUnion([
    object({ type: z.literal('start') }),
    object({ type: z.literal('text-delta'), text: z.string() }),
    object({ type: z.literal('reasoning-delta'), text: z.string() }),
    object({ type: z.literal('tool-call'), ...call, ...origin }),
    object({
      type: z.literal('tool-call-delta'),
      toolCallId: z.string(),
      toolName: optional(z.string()),
      argsTextDelta: z.string(),
    }),
    object({ type: z.literal('tool-approval-request'), toolCall: object(call), ...origin }),
    object({ type: z.literal('tool-result'), ...result, ...origin }),
    object({
      type: z.literal('tool-progress'),
      toolCallId: z.string(),
      toolName: z.string(),
      output: optional(z.string()),
      parentToolCallId: optional(z.string()),
    }),
    object({ type: z.literal('step-start'), stepIndex: z.number() }),
    object({
      type: z.literal('step-finish'),
      stepIndex: z.number(),
      finishReason: finishReasonSchema,
      usage: optional(usageMetadataSchema),
    }),
    object({ type: z.literal('error'), error: errorDataSchema, code: optional(z.string()) }),
    object({ type: z.literal('finish'), finishReason: finishReasonSchema, usage: optional(usageMetadataSchema) }),
  ]),
)
