import { z } from 'zod'
import type { ShownConfig, ShownSetting } from '../shown-config.ts'
import type { HarnessState, PendingApproval, RewindNote, WireAttachment, WireMessage } from '../harness-state.ts'
import { MAX_PAGE } from '../store.ts'
import type {
  ClientHello,
  ClientMessage,
  CommandsMessage,
  DeltaMessage,
  ErrorMessage,
  HelloMessage,
  PingMessage,
  ReceiptMessage,
  ServerMessage,
  SnapshotMessage,
  StateMessage,
} from '../wire.ts'
import type { HarnessToolCall } from '../wire-calls.ts'
import { activityEventSchema } from './activity.ts'
import { blobRefSchema } from './basics.ts'
import { commandSchema } from './command.ts'
import { waitKind } from './control.ts'
import { exact, type Schema } from './exact.ts'
import { listOf, object, optional, seq, taggedUnion } from './fields.ts'
import { jsonObjectSchema, jsonValueSchema } from './json.ts'
import { opSchema, viewSnapshotSchema } from './state.ts'
import { clientId, clientMap, LIMITS } from './untrusted.ts'

export const commandsMessageSchema: Schema<CommandsMessage> = exact<CommandsMessage>()(
  z.object({ type: z.literal('commands'), commands: z.array(commandSchema).max(LIMITS.commands) }),
)

export const clientHelloSchema: Schema<ClientHello> = exact<ClientHello>()(
  z.object({
    type: z.literal('hello'),
    protocol: z.int().min(0),
    clientId,
    epoch: optional(clientId),
    threads: optional(clientMap(z.nullable(seq), LIMITS.threads)),
    window: optional(z.int().min(1).max(MAX_PAGE)),
  }),
)

/** Any message of a client. Untrusted, like the commands in it. */
export const clientMessageSchema: Schema<ClientMessage> = exact<ClientMessage>()(
  taggedUnion([commandsMessageSchema, clientHelloSchema]),
)

export const harnessToolCallSchema: Schema<HarnessToolCall> = exact<HarnessToolCall>()(
  object({
    id: z.string(),
    name: z.string(),
    status: z.enum(['running', 'awaiting-approval', 'complete', 'error', 'denied']),
    input: optional(jsonObjectSchema),
    output: optional(z.string()),
    activity: optional(listOf(activityEventSchema)),
    parentToolCallId: optional(z.string()),
  }),
)

export const pendingApprovalSchema: Schema<PendingApproval> = exact<PendingApproval>()(
  object({
    toolCallId: z.string(),
    toolName: z.string(),
    description: z.string(),
    waitId: z.string(),
    kind: waitKind,
    input: optional(jsonObjectSchema),
    payload: optional(jsonObjectSchema),
    answerSchema: optional(z.string()),
  }),
)

export const wireAttachmentSchema: Schema<WireAttachment> = exact<WireAttachment>()(
  object({
    mimeType: z.string(),
    fileName: optional(z.string()),
    data: z.string(),
    ref: optional(blobRefSchema),
    url: optional(z.string()),
  }),
)

export const wireMessageSchema: Schema<WireMessage> = exact<WireMessage>()(
  object({
    id: z.string(),
    role: z.enum(['user', 'assistant', 'system']),
    content: z.string(),
    status: z.enum(['streaming', 'complete', 'error']),
    toolCalls: optional(listOf(harnessToolCallSchema)),
    reasoning: optional(z.string()),
    attachments: optional(listOf(wireAttachmentSchema)),
    parentToolCallId: optional(z.string()),
    createdAt: z.number(),
  }),
)

export const rewindNoteSchema: Schema<RewindNote> = exact<RewindNote>()(
  object({
    messageId: z.string(),
    scope: z.enum(['files', 'both']),
    dryRun: z.boolean(),
    report: jsonValueSchema,
  }),
)

export const shownSettingSchema: Schema<ShownSetting> = exact<ShownSetting>()(
  object({ value: z.union([z.string(), z.number()]), applies: z.enum(['now', 'next-step', 'next-turn']) }),
)

export const shownConfigSchema: Schema<ShownConfig> = exact<ShownConfig>()(
  object({
    permissionMode: optional(shownSettingSchema),
    mode: optional(shownSettingSchema),
    model: optional(shownSettingSchema),
    agent: optional(shownSettingSchema),
    effort: optional(shownSettingSchema),
    maxTurns: optional(shownSettingSchema),
    systemPrompt: optional(shownSettingSchema),
  }),
)

export const harnessStateSchema: Schema<HarnessState> = exact<HarnessState>()(
  object({
    status: z.enum(['idle', 'running', 'awaiting-approval', 'error']),
    messages: listOf(wireMessageSchema),
    pendingApprovals: optional(listOf(pendingApprovalSchema)),
    sessionId: optional(z.string()),
    error: optional(z.string()),
    rewind: optional(rewindNoteSchema),
    config: optional(shownConfigSchema),
  }),
)

export const helloMessageSchema: Schema<HelloMessage> = exact<HelloMessage>()(
  object({
    type: z.literal('hello'),
    protocol: z.number(),
    epoch: z.string(),
    thread: optional(z.string()),
    seq: optional(z.number()),
    principal: optional(z.string()),
  }),
)

export const stateMessageSchema: Schema<StateMessage> = exact<StateMessage>()(
  object({ type: z.literal('state'), state: harnessStateSchema, seq: optional(seq) }),
)

export const snapshotMessageSchema: Schema<SnapshotMessage> = exact<SnapshotMessage>()(
  object({
    type: z.literal('snapshot'),
    thread: z.string(),
    snapshot: viewSnapshotSchema,
    resync: optional(z.enum(['epoch', 'gap', 'overload', 'window'])),
  }),
)

export const deltaMessageSchema: Schema<DeltaMessage> = exact<DeltaMessage>()(
  object({ type: z.literal('delta'), seq, operations: listOf(opSchema), thread: optional(z.string()) }),
)

export const errorMessageSchema: Schema<ErrorMessage> = exact<ErrorMessage>()(
  object({
    type: z.literal('error'),
    message: z.string(),
    code: optional(z.string()),
    thread: optional(z.string()),
  }),
)

export const receiptMessageSchema: Schema<ReceiptMessage> = exact<ReceiptMessage>()(
  object({
    type: z.literal('receipt'),
    id: z.string(),
    status: z.enum(['accepted', 'done', 'rejected', 'conflict', 'expired']),
    reason: optional(
      z.enum([
        'invalid',
        'wrong-state',
        'wrong-run',
        'wrong-anchor',
        'unknown-id',
        'already-answered',
        'answer-needed',
        'queue-full',
        'unsupported',
        'denied',
        'failed',
      ]),
    ),
    message: optional(z.string()),
    runId: optional(z.string()),
    itemId: optional(z.string()),
    thread: optional(z.string()),
    result: optional(jsonValueSchema),
    seq: optional(seq),
  }),
)

export const pingMessageSchema: Schema<PingMessage> = exact<PingMessage>()(object({ type: z.literal('ping') }))

export const serverMessageSchema: Schema<ServerMessage> = exact<ServerMessage>()(
  taggedUnion([
    helloMessageSchema,
    stateMessageSchema,
    snapshotMessageSchema,
    deltaMessageSchema,
    errorMessageSchema,
    receiptMessageSchema,
    pingMessageSchema,
  ]),
)
