import { z } from 'zod'
import type { ConversationEvent, GoalEvaluation } from '../../harness-event/conversation.ts'
import type { Wire } from '../../wire-form.ts'
import { errorDataSchema } from '../basics.ts'
import { taskItemSchema } from '../control.ts'
import { exact, type Schema } from '../exact.ts'
import { listOf, object, optional, taggedUnion } from '../fields.ts'
import { jsonObjectSchema, jsonValueSchema } from '../json.ts'
import { harnessDisplayStateSchema } from './display-state.ts'
import { harnessMessageSchema, harnessThreadSchema, tokenUsageSchema } from './message.ts'

const goalEvaluation: Schema<Wire<GoalEvaluation>> = exact<Wire<GoalEvaluation>>()(
  object({
    objective: z.string(),
    iteration: z.number(),
    maxRuns: z.number(),
    passed: z.boolean(),
    status: z.enum(['active', 'paused', 'done']),
    results: listOf(jsonValueSchema),
    reason: optional(z.string()),
    pausedReason: optional(z.string()),
    waitingForUser: optional(z.boolean()),
    judgeFailed: optional(z.boolean()),
    duration: z.number(),
    timedOut: z.boolean(),
    maxRunsReached: z.boolean(),
    suppressFeedback: z.boolean(),
    pending: optional(z.boolean()),
    activity: optional(jsonValueSchema),
  }),
)

export const conversationEventSchema: Schema<Wire<ConversationEvent>> = exact<Wire<ConversationEvent>>()(
  taggedUnion([
    object({ type: z.literal('mode_changed'), modeId: z.string(), previousModeId: z.string() }),
    object({
      type: z.literal('model_changed'),
      modelId: z.string(),
      scope: optional(z.enum(['global', 'thread', 'mode'])),
      modeId: optional(z.string()),
    }),
    object({
      type: z.literal('thread_changed'),
      threadId: z.string(),
      previousThreadId: z.nullable(z.string()),
    }),
    object({ type: z.literal('thread_created'), thread: harnessThreadSchema }),
    object({ type: z.literal('thread_deleted'), threadId: z.string() }),
    object({ type: z.literal('state_changed'), state: jsonObjectSchema, changedKeys: listOf(z.string()) }),
    object({ type: z.literal('agent_start') }),
    object({
      type: z.literal('agent_end'),
      reason: optional(z.enum(['complete', 'aborted', 'error', 'suspended'])),
      output: optional(jsonValueSchema),
    }),
    object({ type: z.literal('message_start'), message: harnessMessageSchema }),
    object({ type: z.literal('message_update'), message: harnessMessageSchema }),
    object({ type: z.literal('message_end'), message: harnessMessageSchema }),
    object({ type: z.literal('usage_update'), usage: tokenUsageSchema }),
    object({ type: z.literal('follow_up_queued'), count: z.number(), runId: optional(z.string()) }),
    object({ type: z.literal('task_updated'), tasks: listOf(taskItemSchema) }),
    object({ type: z.literal('goal_evaluation'), payload: goalEvaluation }),
    object({
      type: z.literal('info'),
      message: z.string(),
      steered: optional(z.enum(['injected', 'restarted'])),
    }),
    object({
      type: z.literal('error'),
      error: errorDataSchema,
      errorType: optional(z.string()),
      retryable: optional(z.boolean()),
      retryDelay: optional(z.number()),
    }),
    object({ type: z.literal('display_state_changed'), displayState: harnessDisplayStateSchema }),
  ]),
)
