import { z } from 'zod'
import type { LastRun, NotedDefinition, QueuedItem } from '../head.ts'
import type { AppendTextOp, DeltaFrame, Op, Path, RemoveOp, SetOp } from '../op.ts'
import type { StoredHead, StoredRunState } from '../stored-head.ts'
import type { ViewSnapshot } from '../view.ts'
import { errorDataSchema, usageMetadataSchema, usageTotalsSchema } from './basics.ts'
import {
  answerSchema,
  bindingSchema,
  goalSchema,
  grantsSchema,
  storedLineageSchema,
  permissionRulesSchema,
  taskItemSchema,
  waitSchema,
} from './control.ts'
import { turnDefaultsSchema } from './driver.ts'
import { exact, type Schema } from './exact.ts'
import { listOf, mapOf, object, optional, safeSegment, seq, taggedUnion } from './fields.ts'
import { jsonObjectSchema, jsonValueSchema } from './json.ts'
import { storedMessageSchema } from './message.ts'
import { processNoteSchema } from './part-record.ts'
import { childLinkSchema, omPointerSchema, queueItemFields, runOutcomeSchema } from './record-parts.ts'

export const storedRunStateSchema: Schema<StoredRunState> = exact<StoredRunState>()(
  object({
    runId: z.string(),
    agentId: z.string(),
    door: optional(z.string()),
    status: z.enum(['running', 'parked']),
    attempt: z.number(),
    startedAt: z.number(),
    startedSeq: seq,
    turnId: z.nullable(z.string()),
    step: z.nullable(z.number()),
    isStepOpen: z.boolean(),
    processes: mapOf(processNoteSchema),
    rules: permissionRulesSchema,
    usageBefore: optional(usageTotalsSchema),
    requestContext: optional(jsonObjectSchema),
    turn: optional(turnDefaultsSchema),
    kept: optional(mapOf(listOf(answerSchema))),
  }),
)

export const lastRunSchema: Schema<LastRun> = exact<LastRun>()(
  object({
    runId: z.string(),
    outcome: runOutcomeSchema,
    endedAt: z.number(),
    endedSeq: seq,
    error: optional(errorDataSchema),
    output: optional(jsonValueSchema),
  }),
)

export const queuedItemSchema: Schema<QueuedItem> = exact<QueuedItem>()(
  object({ ...queueItemFields, addedAt: seq, front: optional(z.literal(true)) }),
)

export const notedDefinitionSchema: Schema<NotedDefinition> = exact<NotedDefinition>()(
  object({ hash: z.string(), at: seq }),
)

export const storedHeadSchema: Schema<StoredHead> = exact<StoredHead>()(
  object({
    stream: z.string(),
    seq,
    lineage: storedLineageSchema,
    title: z.nullable(z.string()),
    mode: z.nullable(z.string()),
    model: z.nullable(z.string()),
    agentId: z.nullable(z.string()),
    rules: permissionRulesSchema,
    grants: grantsSchema,
    yolo: z.boolean(),
    settings: jsonObjectSchema,
    settingsAt: mapOf(seq),
    state: jsonObjectSchema,
    stateAt: mapOf(seq),
    goal: z.nullable(goalSchema),
    queue: mapOf(queuedItemSchema),
    queueHeld: z.boolean(),
    waits: mapOf(waitSchema),
    inDoubt: listOf(z.string()),
    definitions: mapOf(notedDefinitionSchema),
    tasks: listOf(taskItemSchema),
    tasksAt: seq,
    titleAt: seq,
    rewrittenAt: seq,
    goalAt: seq,
    usage: object({ own: usageTotalsSchema, subagents: usageTotalsSchema, lastStep: usageMetadataSchema }),
    bindings: mapOf(bindingSchema),
    om: z.nullable(omPointerSchema),
    children: mapOf(childLinkSchema),
    run: z.nullable(storedRunStateSchema),
    lastRun: z.nullable(lastRunSchema),
  }),
)

export const viewSnapshotSchema: Schema<ViewSnapshot> = exact<ViewSnapshot>()(
  object({ seq, head: storedHeadSchema, messages: listOf(storedMessageSchema) }),
)

export const pathSchema: Schema<Path> = exact<Path>()(listOf(safeSegment))

export const setOpSchema: Schema<SetOp> = exact<SetOp>()(
  object({ type: z.literal('set'), path: pathSchema, value: jsonValueSchema }),
)

export const appendTextOpSchema: Schema<AppendTextOp> = exact<AppendTextOp>()(
  object({ type: z.literal('append-text'), path: pathSchema, value: z.string(), len: optional(z.number()) }),
)

export const removeOpSchema: Schema<RemoveOp> = exact<RemoveOp>()(
  object({ type: z.literal('remove'), path: pathSchema, from: optional(seq), to: optional(seq) }),
)

export const opSchema: Schema<Op> = exact<Op>()(taggedUnion([setOpSchema, appendTextOpSchema, removeOpSchema]))

export const deltaFrameSchema: Schema<DeltaFrame> = exact<DeltaFrame>()(
  object({ type: z.literal('delta'), seq, operations: listOf(opSchema) }),
)
