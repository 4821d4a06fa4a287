import { z } from 'zod'
import type { HarnessEvent, WireEvent } from '../../harness-event.ts'
import type { ContentAddress, ContentEvent } from '../../harness-event/content.ts'
import type { Wire } from '../../wire-form.ts'
import { exact, exactShape, type Schema, type Shape } from '../exact.ts'
import { object, optional, taggedUnion } from '../fields.ts'
import {
  fileContentFields,
  imageContentFields,
  notificationFields,
  notificationSummaryFields,
  reactiveSignalFields,
  stateSignalFields,
  systemReminderFields,
  textContentFields,
  thinkingContentFields,
  toolCallContentFields,
  toolResultContentFields,
} from './content.ts'
import { conversationEventSchema } from './conversation-event.ts'
import { memoryEventSchema } from './memory-event.ts'
import { subagentEventSchema, toolEventSchema, workspaceEventSchema } from './tool-event.ts'

const address: Shape<ContentAddress> = exactShape<ContentAddress>()({ messageId: z.string(), partIndex: z.number() })
const perhapsAddress: Shape<Partial<ContentAddress>> = exactShape<Partial<ContentAddress>>()({
  messageId: optional(z.string()),
  partIndex: optional(z.number()),
})

export const contentEventSchema: Schema<Wire<ContentEvent>> = exact<Wire<ContentEvent>>()(
  taggedUnion([
    object({ ...textContentFields, ...address }),
    object({ ...thinkingContentFields, ...address }),
    object({ ...toolCallContentFields, ...address }),
    object({ ...toolResultContentFields, ...address }),
    object({ ...imageContentFields, ...address }),
    object({ ...fileContentFields, ...address }),
    object({ ...systemReminderFields, ...perhapsAddress }),
    object({ ...stateSignalFields, ...perhapsAddress }),
    object({ ...reactiveSignalFields, ...perhapsAddress }),
    object({ ...notificationFields, ...perhapsAddress }),
    object({ ...notificationSummaryFields, ...perhapsAddress }),
  ]),
)

/** A harness event as JSON: dates as text, errors as data, maps as objects. */
export const wireEventSchema: Schema<Wire<HarnessEvent>> = exact<WireEvent>()(
  taggedUnion([
    conversationEventSchema,
    toolEventSchema,
    contentEventSchema,
    workspaceEventSchema,
    memoryEventSchema,
    subagentEventSchema,
  ]),
)
