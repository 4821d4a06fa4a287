import { z } from 'zod'
import type {
  AnswerCommand,
  DeleteCommand,
  EditQueuedCommand,
  FollowUpCommand,
  ForkCommand,
  ModeCommand,
  ModelCommand,
  MoveQueuedCommand,
  RemoveQueuedCommand,
  RenameCommand,
  RevokeCommand,
  ApproveCommand,
  CancelCommand,
  Command,
  CommandAttachment,
  CommandBase,
  ConfigureCommand,
  DenyCommand,
  Expectation,
  ResumeCommand,
  RewindCommand,
  RuntimeConfig,
  SteerCommand,
  SubmitCommand,
} from '../command.ts'
import { grantScopeSchema, toolCategorySchema } from './control.ts'
import { exact, exactShape, type Schema, type Shape } from './exact.ts'
import { optional, taggedUnion } from './fields.ts'
import { base64, clientId, clientJson, clientName, clientText, LIMITS, mediaType } from './untrusted.ts'

/*
 * Commands come from clients and are untrusted: every field has a limit, ids are safe to use as keys, and unknown keys
 * are dropped. Hence `z.object`, where the schemas of our own records keep unknown keys.
 */

const clientTitle = z.string().max(LIMITS.title)

export const expectationSchema: Schema<Expectation> = exact<Expectation>()(
  z.object({
    runId: optional(z.nullable(clientId)),
    headMessageId: optional(z.nullable(clientId)),
  }),
)

const base: Shape<CommandBase> = exactShape<CommandBase>()({
  id: optional(clientId),
  thread: optional(clientId),
  expect: optional(expectationSchema),
})

export const commandAttachmentSchema: Schema<CommandAttachment> = exact<CommandAttachment>()(
  z.object({ mimeType: mediaType, data: base64, fileName: optional(z.string().max(LIMITS.name)) }),
)

export const submitCommandSchema: Schema<SubmitCommand> = exact<SubmitCommand>()(
  z.object({
    ...base,
    type: z.literal('submit'),
    prompt: clientText,
    attachments: optional(z.array(commandAttachmentSchema).max(LIMITS.attachments)),
  }),
)

export const cancelCommandSchema: Schema<CancelCommand> = exact<CancelCommand>()(
  z.object({ ...base, type: z.literal('cancel') }),
)

export const steerCommandSchema: Schema<SteerCommand> = exact<SteerCommand>()(
  z.object({ ...base, type: z.literal('steer'), message: clientText }),
)

export const approveCommandSchema: Schema<ApproveCommand> = exact<ApproveCommand>()(
  z.object({
    ...base,
    type: z.literal('approve'),
    toolCallId: clientId,
    answer: optional(clientJson),
    remember: optional(z.enum(['tool', 'category'])),
    scope: optional(grantScopeSchema),
  }),
)

export const denyCommandSchema: Schema<DenyCommand> = exact<DenyCommand>()(
  z.object({ ...base, type: z.literal('deny'), toolCallId: clientId, reason: optional(clientText) }),
)

export const resumeCommandSchema: Schema<ResumeCommand> = exact<ResumeCommand>()(
  z.object({ ...base, type: z.literal('resume'), prompt: clientText, sessionId: clientId }),
)

export const runtimeConfigSchema: Schema<RuntimeConfig> = exact<RuntimeConfig>()(
  z.object({
    permissionMode: optional(z.enum(['default', 'acceptEdits', 'fullAuto'])),
    maxTurns: optional(z.int().min(1)),
    model: optional(clientName),
    systemPrompt: optional(clientText),
    effort: optional(z.enum(['low', 'medium', 'high', 'max'])),
    mode: optional(clientName),
    agent: optional(clientName),
  }),
)

export const configureCommandSchema: Schema<ConfigureCommand> = exact<ConfigureCommand>()(
  z.object({ ...base, type: z.literal('configure'), config: runtimeConfigSchema }),
)

export const rewindCommandSchema: Schema<RewindCommand> = exact<RewindCommand>()(
  z.object({
    ...base,
    type: z.literal('rewind'),
    messageId: clientId,
    dryRun: optional(z.boolean()),
    scope: optional(z.enum(['files', 'conversation', 'both'])),
  }),
)

export const followUpCommandSchema: Schema<FollowUpCommand> = exact<FollowUpCommand>()(
  z.object({
    ...base,
    type: z.literal('follow-up'),
    message: clientText,
    attachments: optional(z.array(commandAttachmentSchema).max(LIMITS.attachments)),
  }),
)

export const editQueuedCommandSchema: Schema<EditQueuedCommand> = exact<EditQueuedCommand>()(
  z.object({ ...base, type: z.literal('queue-edit'), itemId: clientId, message: clientText }),
)

export const moveQueuedCommandSchema: Schema<MoveQueuedCommand> = exact<MoveQueuedCommand>()(
  z.object({ ...base, type: z.literal('queue-move'), itemId: clientId, before: z.nullable(clientId) }),
)

export const removeQueuedCommandSchema: Schema<RemoveQueuedCommand> = exact<RemoveQueuedCommand>()(
  z.object({ ...base, type: z.literal('queue-remove'), itemId: clientId }),
)

export const answerCommandSchema: Schema<AnswerCommand> = exact<AnswerCommand>()(
  z.object({
    ...base,
    type: z.literal('answer'),
    waitId: clientId,
    decision: z.enum(['approve', 'decline', 'answer']),
    value: optional(clientJson),
    reason: optional(clientText),
    remember: optional(z.enum(['tool', 'category'])),
    scope: optional(grantScopeSchema),
  }),
)

export const modeCommandSchema: Schema<ModeCommand> = exact<ModeCommand>()(
  z.object({ ...base, type: z.literal('mode'), mode: clientName }),
)

export const modelCommandSchema: Schema<ModelCommand> = exact<ModelCommand>()(
  z.object({ ...base, type: z.literal('model'), model: clientName }),
)

export const forkCommandSchema: Schema<ForkCommand> = exact<ForkCommand>()(
  z.object({
    ...base,
    type: z.literal('fork'),
    messageId: optional(clientId),
    title: optional(clientTitle),
    worktree: optional(z.boolean()),
  }),
)

export const renameCommandSchema: Schema<RenameCommand> = exact<RenameCommand>()(
  z.object({ ...base, type: z.literal('rename'), title: clientTitle }),
)

export const deleteCommandSchema: Schema<DeleteCommand> = exact<DeleteCommand>()(
  z.object({ ...base, type: z.literal('delete') }),
)

export const revokeCommandSchema: Schema<RevokeCommand> = exact<RevokeCommand>()(
  z.object({
    ...base,
    type: z.literal('revoke'),
    tool: optional(clientName),
    category: optional(toolCategorySchema),
    scope: optional(grantScopeSchema),
  }),
)

export const commandSchema: Schema<Command> = exact<Command>()(
  taggedUnion([
    submitCommandSchema,
    cancelCommandSchema,
    steerCommandSchema,
    approveCommandSchema,
    denyCommandSchema,
    resumeCommandSchema,
    configureCommandSchema,
    rewindCommandSchema,
    followUpCommandSchema,
    editQueuedCommandSchema,
    moveQueuedCommandSchema,
    removeQueuedCommandSchema,
    answerCommandSchema,
    modeCommandSchema,
    modelCommandSchema,
    forkCommandSchema,
    renameCommandSchema,
    deleteCommandSchema,
    revokeCommandSchema,
  ]),
)
