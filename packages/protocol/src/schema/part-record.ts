import { z } from 'zod'
import type { BatchEvent, PartAddress, ProcessNote, RecordedFile, RecordedToolResult } from '../control-record.ts'
import type {
  ReasoningDeltaEvent,
  TextDeltaEvent,
  ToolCallDeltaEvent,
  ToolCallEvent,
  ToolProgressEvent,
} from '../agent-event.ts'
import type { SealedPart } from '../record.ts'
import {
  fileFields,
  reasoningDeltaFields,
  textDeltaFields,
  toolCallDeltaFields,
  toolCallFields,
  toolProgressFields,
  toolResultFields,
} from './agent-event.ts'
import { blobRefSchema } from './basics.ts'
import { exact, exactShape, type Schema, type Shape } from './exact.ts'
import { object, optional, taggedUnion } from './fields.ts'
import { callOutcomeSchema } from './message.ts'

const address: Shape<PartAddress> = exactShape<PartAddress>()({ messageId: z.string(), partId: z.string() })

export const partAddressSchema: Schema<PartAddress> = exact<PartAddress>()(object(address))

const textDelta: Schema<TextDeltaEvent & PartAddress> = exact<TextDeltaEvent & PartAddress>()(
  object({ ...textDeltaFields, ...address }),
)

const reasoningDelta: Schema<ReasoningDeltaEvent & PartAddress> = exact<ReasoningDeltaEvent & PartAddress>()(
  object({ ...reasoningDeltaFields, ...address }),
)

const toolCall: Schema<ToolCallEvent & PartAddress> = exact<ToolCallEvent & PartAddress>()(
  object({ ...toolCallFields, ...address }),
)

const toolCallDelta: Schema<ToolCallDeltaEvent & PartAddress> = exact<ToolCallDeltaEvent & PartAddress>()(
  object({ ...toolCallDeltaFields, ...address }),
)

const toolProgress: Schema<ToolProgressEvent & PartAddress> = exact<ToolProgressEvent & PartAddress>()(
  object({ ...toolProgressFields, ...address }),
)

export const recordedFileSchema: Schema<RecordedFile> = exact<RecordedFile>()(object({ ...fileFields, ...address }))

export const recordedToolResultSchema: Schema<RecordedToolResult> = exact<RecordedToolResult>()(
  object({
    ...toolResultFields,
    ...address,
    resultRef: optional(blobRefSchema),
    call: optional(partAddressSchema),
    outcome: optional(callOutcomeSchema),
  }),
)

export const sealedPartSchema: Schema<SealedPart> = exact<SealedPart>()(
  taggedUnion([textDelta, reasoningDelta, recordedFileSchema, toolCall, recordedToolResultSchema]),
)

export const batchEventSchema: Schema<BatchEvent> = exact<BatchEvent>()(
  taggedUnion([textDelta, reasoningDelta, toolCallDelta, toolProgress]),
)

export const processNoteSchema: Schema<ProcessNote> = exact<ProcessNote>()(
  object({ runTag: z.string(), pid: z.number(), startTime: z.string(), bootId: z.string() }),
)
