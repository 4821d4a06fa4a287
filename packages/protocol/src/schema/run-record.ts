import { z } from 'zod'
import type {
  CancelReceipt,
  MessageAddedRecord,
  MessageEndedRecord,
  MessageStartedRecord,
  RequestRef,
  RunCancelledRecord,
  RunEndedRecord,
  RunOutcome,
  RunParkedRecord,
  RunResumedRecord,
  RunStartedRecord,
  StepEndedRecord,
  StepStartedRecord,
  TurnEndedRecord,
  TurnProcessRecord,
  TurnStartedRecord,
} from '../control-record.ts'
import { eventMetaSchema, nativeRefSchema } from './agent-event.ts'
import {
  blobRefSchema,
  errorDataSchema,
  finishReasonSchema,
  usageIncrementSchema,
  usageMetadataSchema,
} from './basics.ts'
import { permissionRulesSchema } from './control.ts'
import { turnDefaultsSchema } from './driver.ts'
import { exact, type Schema } from './exact.ts'
import { listOf, object, optional } from './fields.ts'
import { jsonObjectSchema, jsonValueSchema } from './json.ts'
import { messageRoleSchema, partSchema } from './message.ts'
import { processNoteSchema } from './part-record.ts'

export const messageAddedRecordSchema: Schema<MessageAddedRecord> = exact<MessageAddedRecord>()(
  object({
    type: z.literal('message.added'),
    messageId: z.string(),
    role: messageRoleSchema,
    parts: listOf(partSchema),
    createdAt: optional(z.number()),
    by: optional(z.string()),
    native: optional(nativeRefSchema),
    meta: optional(eventMetaSchema),
  }),
)

export const messageStartedRecordSchema: Schema<MessageStartedRecord> = exact<MessageStartedRecord>()(
  object({
    type: z.literal('message.started'),
    messageId: z.string(),
    role: messageRoleSchema,
    step: optional(z.number()),
    by: optional(z.string()),
    parentToolCallId: optional(z.string()),
    native: optional(nativeRefSchema),
  }),
)

export const messageEndedRecordSchema: Schema<MessageEndedRecord> = exact<MessageEndedRecord>()(
  object({
    type: z.literal('message.ended'),
    messageId: z.string(),
    outcome: z.enum(['done', 'interrupted']),
    finishReason: optional(finishReasonSchema),
    usage: optional(usageMetadataSchema),
    error: optional(errorDataSchema),
    native: optional(nativeRefSchema),
  }),
)

export const runStartedRecordSchema: Schema<RunStartedRecord> = exact<RunStartedRecord>()(
  object({
    type: z.literal('run.started'),
    named: optional(z.literal(true)),
    runId: z.string(),
    agentId: z.string(),
    door: optional(z.string()),
    mode: optional(z.string()),
    model: optional(z.string()),
    rules: permissionRulesSchema,
    requestContext: optional(jsonObjectSchema),
    turn: optional(turnDefaultsSchema),
  }),
)

export const runResumedRecordSchema: Schema<RunResumedRecord> = exact<RunResumedRecord>()(
  object({
    type: z.literal('run.resumed'),
    runId: z.string(),
    attempt: z.number(),
    reason: z.enum(['crash', 'answer', 'takeover']),
  }),
)

export const runParkedRecordSchema: Schema<RunParkedRecord> = exact<RunParkedRecord>()(
  object({ type: z.literal('run.parked'), runId: z.string(), waitIds: listOf(z.string()) }),
)

export const cancelReceiptSchema: Schema<CancelReceipt> = exact<CancelReceipt>()(
  object({
    how: z.enum(['clean', 'killed', 'gone']),
    calls: listOf(z.string()),
    orphansKilled: z.number(),
    queued: listOf(z.string()),
  }),
)

export const runCancelledRecordSchema: Schema<RunCancelledRecord> = exact<RunCancelledRecord>()(
  object({ type: z.literal('run.cancelled'), runId: z.string(), receipt: cancelReceiptSchema }),
)

export const runOutcomeSchema: Schema<RunOutcome> = exact<RunOutcome>()(
  z.enum(['complete', 'aborted', 'error', 'interrupted']),
)

export const runEndedRecordSchema: Schema<RunEndedRecord> = exact<RunEndedRecord>()(
  object({
    type: z.literal('run.ended'),
    runId: z.string(),
    outcome: runOutcomeSchema,
    error: optional(errorDataSchema),
    output: optional(jsonValueSchema),
  }),
)

export const turnStartedRecordSchema: Schema<TurnStartedRecord> = exact<TurnStartedRecord>()(
  object({
    type: z.literal('turn.started'),
    turnId: z.string(),
    agentId: z.string(),
    anchor: optional(z.string()),
  }),
)

export const turnProcessRecordSchema: Schema<TurnProcessRecord> = exact<TurnProcessRecord>()(
  object({ type: z.literal('turn.process'), turnId: z.string(), process: processNoteSchema }),
)

export const turnEndedRecordSchema: Schema<TurnEndedRecord> = exact<TurnEndedRecord>()(
  object({
    type: z.literal('turn.ended'),
    turnId: z.string(),
    finishReason: finishReasonSchema,
    outcome: runOutcomeSchema,
    usage: optional(usageMetadataSchema),
    increment: optional(usageIncrementSchema),
    limit: optional(z.enum(['tokens', 'usd', 'ms'])),
  }),
)

export const requestRefSchema: Schema<RequestRef> = exact<RequestRef>()(
  object({ system: optional(blobRefSchema), tools: optional(blobRefSchema), model: optional(z.string()) }),
)

export const stepStartedRecordSchema: Schema<StepStartedRecord> = exact<StepStartedRecord>()(
  object({
    type: z.literal('step.started'),
    stepIndex: z.number(),
    attempt: optional(z.number()),
    request: optional(requestRefSchema),
  }),
)

export const stepEndedRecordSchema: Schema<StepEndedRecord> = exact<StepEndedRecord>()(
  object({
    type: z.literal('step.ended'),
    stepIndex: z.number(),
    finishReason: finishReasonSchema,
    usage: optional(usageIncrementSchema),
    error: optional(errorDataSchema),
  }),
)
