import { z } from 'zod'
import type {
  ActiveSubagentState,
  ActiveToolState,
  HarnessDisplayState,
  ModifiedFile,
  OMBufferedState,
  OMProgressState,
  PendingToolApproval,
  PendingToolSuspension,
  ToolInputBuffer,
} from '../../display-state.ts'
import type { Wire } from '../../wire-form.ts'
import { taskItemSchema } from '../control.ts'
import { exact, type Schema } from '../exact.ts'
import { listOf, mapOf, object, optional } from '../fields.ts'
import { jsonValueSchema } from '../json.ts'
import { askingSubagent } from './tool-event.ts'
import { harnessMessageSchema, isoDate, tokenUsageSchema } from './message.ts'

const activeTool: Schema<Wire<ActiveToolState>> = exact<Wire<ActiveToolState>>()(
  object({
    name: z.string(),
    args: jsonValueSchema,
    status: z.enum(['streaming_input', 'running', 'completed', 'error']),
    partialResult: optional(z.string()),
    result: optional(jsonValueSchema),
    isError: optional(z.boolean()),
    shellOutput: optional(z.string()),
  }),
)

const toolInputBuffer: Schema<Wire<ToolInputBuffer>> = exact<Wire<ToolInputBuffer>>()(
  object({ text: z.string(), toolName: z.string() }),
)

const pendingApproval: Schema<Wire<PendingToolApproval>> = exact<Wire<PendingToolApproval>>()(
  object({
    toolCallId: z.string(),
    toolName: z.string(),
    args: jsonValueSchema,
    description: z.string(),
    subagent: optional(askingSubagent),
  }),
)

const pendingSuspension: Schema<Wire<PendingToolSuspension>> = exact<Wire<PendingToolSuspension>>()(
  object({
    toolCallId: z.string(),
    toolName: z.string(),
    args: jsonValueSchema,
    suspendPayload: jsonValueSchema,
    resumeSchema: optional(z.string()),
  }),
)

const activeSubagent: Schema<Wire<ActiveSubagentState>> = exact<Wire<ActiveSubagentState>>()(
  object({
    agentType: z.string(),
    parentToolCallId: optional(z.string()),
    displayName: optional(z.string()),
    task: z.string(),
    modelId: optional(z.string()),
    forked: optional(z.boolean()),
    background: optional(z.literal(true)),
    toolCalls: listOf(object({ name: z.string(), isError: z.boolean() })),
    textDelta: z.string(),
    status: z.enum(['running', 'completed', 'error']),
    durationMs: optional(z.number()),
    result: optional(z.string()),
  }),
)

const bufferedStatus = z.enum(['idle', 'running', 'complete'])

export const omBufferedState: Schema<Wire<OMBufferedState>> = exact<Wire<OMBufferedState>>()(
  object({
    observations: object({
      status: bufferedStatus,
      chunks: z.number(),
      messageTokens: z.number(),
      projectedMessageRemoval: z.number(),
      observationTokens: z.number(),
    }),
    reflection: object({
      status: bufferedStatus,
      inputObservationTokens: z.number(),
      observationTokens: z.number(),
    }),
  }),
)

const omProgress: Schema<Wire<OMProgressState>> = exact<Wire<OMProgressState>>()(
  object({
    status: z.enum(['idle', 'observing', 'reflecting']),
    pendingTokens: z.number(),
    threshold: z.number(),
    thresholdPercent: z.number(),
    observationTokens: z.number(),
    reflectionThreshold: z.number(),
    reflectionThresholdPercent: z.number(),
    buffered: omBufferedState,
    generationCount: z.number(),
    stepNumber: z.number(),
    cycleId: optional(z.string()),
    startTime: optional(z.number()),
    preReflectionTokens: z.number(),
  }),
)

const modifiedFile: Schema<Wire<ModifiedFile>> = exact<Wire<ModifiedFile>>()(
  object({ operations: listOf(z.string()), firstModified: isoDate }),
)

export const harnessDisplayStateSchema: Schema<Wire<HarnessDisplayState>> = exact<Wire<HarnessDisplayState>>()(
  object({
    isRunning: z.boolean(),
    currentMessage: z.nullable(harnessMessageSchema),
    queuedFollowUps: z.number(),
    tokenUsage: tokenUsageSchema,
    activeTools: mapOf(activeTool),
    toolInputBuffers: mapOf(toolInputBuffer),
    pendingApproval: z.nullable(pendingApproval),
    pendingApprovals: listOf(pendingApproval),
    pendingSuspensions: mapOf(pendingSuspension),
    activeSubagents: mapOf(activeSubagent),
    omProgress,
    bufferingMessages: z.boolean(),
    bufferingObservations: z.boolean(),
    modifiedFiles: mapOf(modifiedFile),
    tasks: listOf(taskItemSchema),
    previousTasks: listOf(taskItemSchema),
  }),
)
