import { z } from 'zod'
import type {
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
import { exact, exactShape, type Schema, type Shape } from './exact.ts'
import { optional, taggedUnion } from './fields.ts'
import { base64, clientId, clientJson, clientName, clientText, LIMITS, mediaType } from './untrusted.ts'

/*
 * Commands come from clients and are untrusted: every field has a limit, ids are safe to use as keys, and unknown keys
 * are dropped. Hence `z.object`, where the schemas of our own records keep unknown keys.
 */

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
    scope: optional(z.enum(['files', 'both'])),
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
  ]),
)
