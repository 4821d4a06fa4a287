import { z } from 'zod'
import type { ToolCallDeltaEvent, ToolProgressEvent } from '../agent-event.ts'
import type { PartAddress, ProcessNote } from '../control-record.ts'
import { toolCallDeltaFields, toolProgressFields } from './agent-event.ts'
import { exact, exactShape, type Schema, type Shape } from './exact.ts'
import { object } from './fields.ts'

const address: Shape<PartAddress> = exactShape<PartAddress>()({ messageId: z.string(), partId: z.string() })

export const partAddressSchema: Schema<PartAddress> = exact<PartAddress>()(object(address))

export const recordedCallDelta: Schema<ToolCallDeltaEvent & PartAddress> = exact<ToolCallDeltaEvent & PartAddress>()(
  object({ ...toolCallDeltaFields, ...address }),
)

export const recordedProgress: Schema<ToolProgressEvent & PartAddress> = exact<ToolProgressEvent & PartAddress>()(
  object({ ...toolProgressFields, ...address }),
)

export const processNoteSchema: Schema<ProcessNote> = exact<ProcessNote>()(
  object({ runTag: z.string(), pid: z.number(), startTime: z.string(), bootId: z.string() }),
)
