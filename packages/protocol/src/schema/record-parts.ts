import { z } from 'zod'
import type {
  CancelReceipt,
  CheckpointFile,
  ChildLink,
  OmPointer,
  QueueItem,
  RequestRef,
  RunOutcome,
} from '../control-record.ts'
import { blobRefSchema } from './basics.ts'
import { turnDefaultsSchema } from './driver.ts'
import { exact, exactShape, type Schema, type Shape } from './exact.ts'
import { listOf, mapOf, object, optional, seq } from './fields.ts'
import { jsonObjectSchema } from './json.ts'
import { partSchema } from './message.ts'

export const cancelReceiptSchema: Schema<CancelReceipt> = exact<CancelReceipt>()(
  object({
    how: z.enum(['clean', 'killed', 'gone']),
    calls: listOf(z.string()),
    orphansKilled: z.number(),
    queued: listOf(z.string()),
  }),
)

export const runOutcomeSchema: Schema<RunOutcome> = exact<RunOutcome>()(
  z.enum(['complete', 'aborted', 'error', 'interrupted']),
)

export const requestRefSchema: Schema<RequestRef> = exact<RequestRef>()(
  object({ system: optional(blobRefSchema), tools: optional(blobRefSchema), model: optional(z.string()) }),
)

export const queueItemFields: Shape<QueueItem> = exactShape<QueueItem>()({
  id: z.string(),
  lane: z.enum(['follow-up', 'steer', 'hand-off']),
  parts: listOf(partSchema),
  by: optional(z.string()),
  agentId: optional(z.string()),
  door: optional(z.string()),
  messageId: optional(z.string()),
  requestContext: optional(jsonObjectSchema),
  turn: optional(turnDefaultsSchema),
})

export const queueItemSchema: Schema<QueueItem> = exact<QueueItem>()(object(queueItemFields))

export const checkpointFileSchema: Schema<CheckpointFile> = exact<CheckpointFile>()(
  object({ path: z.string(), change: z.enum(['added', 'changed', 'removed']) }),
)

export const omPointerSchema: Schema<OmPointer> = exact<OmPointer>()(
  object({
    generation: z.number(),
    coversTo: seq,
    blob: optional(z.string()),
    holds: optional(z.literal('summary')),
    contentTo: optional(seq),
    omitted: optional(z.number()),
    keeps: optional(listOf(z.string())),
    shortened: optional(mapOf(z.number())),
  }),
)

export const childLinkSchema: Schema<ChildLink> = exact<ChildLink>()(
  object({
    thread: z.string(),
    runId: z.string(),
    agentId: z.string(),
    toolCallId: optional(z.string()),
    background: optional(z.literal(true)),
  }),
)
