import { z } from 'zod'
import type { CommandKey, CommandRow, Fence, Owner, StreamStatus, ThreadInfo, WaitRow } from '../store.ts'
import { waitCancelReasonSchema, waitSchema, waitStateSchema } from './control.ts'
import { exact, type Schema } from './exact.ts'
import { object, optional, seq } from './fields.ts'
import { jsonObjectSchema, jsonValueSchema } from './json.ts'

export const threadInfoSchema: Schema<ThreadInfo> = exact<ThreadInfo>()(
  object({
    id: z.string(),
    resourceId: z.string(),
    title: z.nullable(z.string()),
    createdAt: z.number(),
    updatedAt: z.number(),
    hidden: z.boolean(),
    root: optional(z.string()),
    parent: optional(z.string()),
    parentCall: optional(z.string()),
    forkedFrom: optional(object({ thread: z.string(), at: seq })),
    metadata: jsonObjectSchema,
    damaged: optional(z.string()),
  }),
)

export const commandKeySchema: Schema<CommandKey> = exact<CommandKey>()(
  object({ principal: z.string(), clientId: z.string(), commandId: z.string() }),
)

export const commandRowSchema: Schema<CommandRow> = exact<CommandRow>()(
  object({
    key: commandKeySchema,
    bodyHash: z.string(),
    target: z.string(),
    body: jsonValueSchema,
    state: z.enum(['accepted', 'done']),
    outcome: z.nullable(jsonValueSchema),
    seq: z.nullable(seq),
    at: z.number(),
  }),
)

export const waitRowSchema: Schema<WaitRow> = exact<WaitRow>()(
  object({
    stream: z.string(),
    wait: waitSchema,
    state: waitStateSchema,
    answeredBy: optional(z.string()),
    settledAt: optional(z.number()),
    reason: optional(waitCancelReasonSchema),
  }),
)

export const ownerSchema: Schema<Owner> = exact<Owner>()(
  object({
    id: z.string(),
    host: z.string(),
    pid: z.number(),
    startTime: z.string(),
    bootId: z.string(),
    until: z.number(),
    url: optional(z.string()),
  }),
)

export const fenceSchema: Schema<Fence> = exact<Fence>()(object({ owner: z.string(), epoch: z.number() }))

export const streamStatusSchema: Schema<StreamStatus> = exact<StreamStatus>()(
  object({
    stream: z.string(),
    kind: z.enum(['thread', 'session']),
    headSeq: seq,
    owner: z.nullable(z.string()),
    epoch: z.number(),
  }),
)
