import { z } from 'zod'
import type {
  BindingChangedRecord,
  BindingRemovedRecord,
  CheckpointFile,
  CheckpointMadeRecord,
  ChildEndedRecord,
  ChildLink,
  ChildStartedRecord,
  CompactionRecord,
  ConfigChangedRecord,
  ContextCutRecord,
  ErasedRecord,
  ForkRecord,
  NoteRecord,
  OmCommittedRecord,
  OmPointer,
  QueueAddedRecord,
  QueueHeldRecord,
  QueueItem,
  QueueRemovedRecord,
  RewindRecord,
  TasksChangedRecord,
  WaitAnsweredRecord,
  WaitCancelledRecord,
  WaitOpenedRecord,
  WaitSupersededRecord,
} from '../control-record.ts'
import { blobRefSchema, usageIncrementSchema } from './basics.ts'
import {
  answerSchema,
  bindingSchema,
  goalSchema,
  grantsSchema,
  storedLineageSchema,
  permissionRulesSchema,
  taskItemSchema,
  waitCancelReasonSchema,
  waitRequestSchema,
} from './control.ts'
import { turnDefaultsSchema } from './driver.ts'
import { exact, exactShape, type Schema, type Shape } from './exact.ts'
import { listOf, mapOf, object, optional, seq } from './fields.ts'
import { jsonObjectSchema } from './json.ts'
import { partSchema } from './message.ts'
import { partAddressSchema } from './part-record.ts'
import { runOutcomeSchema } from './run-record.ts'

export const waitOpenedRecordSchema: Schema<WaitOpenedRecord> = exact<WaitOpenedRecord>()(
  object({
    type: z.literal('wait.opened'),
    wait: waitRequestSchema,
    call: optional(partAddressSchema),
    state: optional(z.string()),
    answered: optional(z.literal(true)),
  }),
)

export const waitAnsweredRecordSchema: Schema<WaitAnsweredRecord> = exact<WaitAnsweredRecord>()(
  object({
    type: z.literal('wait.answered'),
    waitId: z.string(),
    answer: answerSchema,
    detached: optional(z.literal(true)),
  }),
)

export const waitCancelledRecordSchema: Schema<WaitCancelledRecord> = exact<WaitCancelledRecord>()(
  object({ type: z.literal('wait.cancelled'), waitId: z.string(), reason: waitCancelReasonSchema }),
)

export const waitSupersededRecordSchema: Schema<WaitSupersededRecord> = exact<WaitSupersededRecord>()(
  object({ type: z.literal('wait.superseded'), waitId: z.string(), byWaitId: optional(z.string()) }),
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

export const queueAddedRecordSchema: Schema<QueueAddedRecord> = exact<QueueAddedRecord>()(
  object({ type: z.literal('queue.added'), item: queueItemSchema, front: optional(z.literal(true)) }),
)

export const queueRemovedRecordSchema: Schema<QueueRemovedRecord> = exact<QueueRemovedRecord>()(
  object({ type: z.literal('queue.removed'), itemId: z.string(), reason: z.enum(['heard', 'sent', 'dropped']) }),
)

export const queueHeldRecordSchema: Schema<QueueHeldRecord> = exact<QueueHeldRecord>()(
  object({ type: z.literal('queue.held'), held: z.boolean() }),
)

const clearable = optional(z.nullable(z.string()))

export const configChangedRecordSchema: Schema<ConfigChangedRecord> = exact<ConfigChangedRecord>()(
  object({
    type: z.literal('config.changed'),
    mode: clearable,
    model: clearable,
    agentId: clearable,
    title: clearable,
    rules: optional(permissionRulesSchema),
    grants: optional(grantsSchema),
    yolo: optional(z.boolean()),
    goal: optional(z.nullable(goalSchema)),
    settings: optional(jsonObjectSchema),
    state: optional(jsonObjectSchema),
  }),
)

export const tasksChangedRecordSchema: Schema<TasksChangedRecord> = exact<TasksChangedRecord>()(
  object({ type: z.literal('tasks.changed'), tasks: listOf(taskItemSchema) }),
)

export const checkpointFileSchema: Schema<CheckpointFile> = exact<CheckpointFile>()(
  object({ path: z.string(), change: z.enum(['added', 'changed', 'removed']) }),
)

export const checkpointMadeRecordSchema: Schema<CheckpointMadeRecord> = exact<CheckpointMadeRecord>()(
  object({
    type: z.literal('checkpoint.made'),
    checkpointId: z.string(),
    root: z.string(),
    files: listOf(checkpointFileSchema),
  }),
)

export const bindingChangedRecordSchema: Schema<BindingChangedRecord> = exact<BindingChangedRecord>()(
  object({ type: z.literal('binding.changed'), binding: bindingSchema }),
)

export const bindingRemovedRecordSchema: Schema<BindingRemovedRecord> = exact<BindingRemovedRecord>()(
  object({ type: z.literal('binding.removed'), agentId: z.string() }),
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

export const forkRecordSchema: Schema<ForkRecord> = exact<ForkRecord>()(
  object({
    type: z.literal('fork'),
    parent: z.string(),
    at: seq,
    lineage: storedLineageSchema,
    keep: object({
      mode: z.nullable(z.string()),
      model: z.nullable(z.string()),
      agentId: z.nullable(z.string()),
      rules: permissionRulesSchema,
      yolo: z.boolean(),
      settings: jsonObjectSchema,
      tasks: listOf(taskItemSchema),
      om: z.nullable(omPointerSchema),
      grants: grantsSchema,
      origins: mapOf(bindingSchema),
    }),
  }),
)

export const rewindRecordSchema: Schema<RewindRecord> = exact<RewindRecord>()(
  object({
    type: z.literal('rewind'),
    to: seq,
    lineage: optional(storedLineageSchema),
    tasks: listOf(taskItemSchema),
    om: z.nullable(omPointerSchema),
    files: optional(object({ checkpointId: z.string() })),
  }),
)

export const erasedRecordSchema: Schema<ErasedRecord> = exact<ErasedRecord>()(
  object({ type: z.literal('erased'), from: seq, to: seq, reason: optional(z.string()) }),
)

export const omCommittedRecordSchema: Schema<OmCommittedRecord> = exact<OmCommittedRecord>()(
  object({ type: z.literal('om.committed'), om: omPointerSchema, replaces: z.number() }),
)

export const contextCutRecordSchema: Schema<ContextCutRecord> = exact<ContextCutRecord>()(
  object({
    type: z.literal('context.cut'),
    coversTo: seq,
    omitted: z.number(),
    generation: z.number(),
    keeps: optional(listOf(z.string())),
    shortened: optional(mapOf(z.number())),
  }),
)

export const compactionRecordSchema: Schema<CompactionRecord> = exact<CompactionRecord>()(
  object({
    type: z.literal('compaction'),
    summary: blobRefSchema,
    coversTo: seq,
    generation: z.number(),
    tokensBefore: optional(z.number()),
    tokensAfter: optional(z.number()),
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

export const childStartedRecordSchema: Schema<ChildStartedRecord> = exact<ChildStartedRecord>()(
  object({ type: z.literal('child.started'), child: childLinkSchema }),
)

export const childEndedRecordSchema: Schema<ChildEndedRecord> = exact<ChildEndedRecord>()(
  object({
    type: z.literal('child.ended'),
    thread: z.string(),
    runId: z.string(),
    outcome: runOutcomeSchema,
    usage: optional(usageIncrementSchema),
  }),
)

export const noteRecordSchema: Schema<NoteRecord> = exact<NoteRecord>()(
  object({
    type: z.literal('note'),
    kind: z.enum([
      'info',
      'warning',
      'handover',
      'policy-violation',
      'receipt',
      'budget',
      'limit',
      'score',
      'feedback',
    ]),
    text: z.string(),
    data: optional(jsonObjectSchema),
  }),
)
