import { z } from 'zod'
import type { SubagentEvent } from '../../harness-event/subagent.ts'
import type { AskingSubagent, ToolEvent } from '../../harness-event/tool.ts'
import type { WorkspaceEvent } from '../../harness-event/workspace.ts'
import type { Wire } from '../../wire-form.ts'
import { activityEventSchema } from '../activity.ts'
import { errorDataSchema } from '../basics.ts'
import { exact, type Schema } from '../exact.ts'
import { object, optional, taggedUnion } from '../fields.ts'
import { jsonValueSchema } from '../json.ts'

export const askingSubagent: Schema<Wire<AskingSubagent>> = exact<Wire<AskingSubagent>>()(
  object({ agentType: z.string(), task: z.string(), threadId: z.string() }),
)

const call = { toolCallId: z.string(), toolName: z.string(), args: jsonValueSchema }

export const toolEventSchema: Schema<Wire<ToolEvent>> = exact<Wire<ToolEvent>>()(
  taggedUnion([
    object({ type: z.literal('tool_start'), ...call }),
    object({
      type: z.literal('tool_approval_required'),
      ...call,
      description: z.string(),
      subagent: optional(askingSubagent),
    }),
    object({
      type: z.literal('tool_suspended'),
      ...call,
      suspendPayload: jsonValueSchema,
      resumeSchema: optional(z.string()),
    }),
    object({ type: z.literal('tool_update'), toolCallId: z.string(), partialResult: jsonValueSchema }),
    object({
      type: z.literal('tool_end'),
      toolCallId: z.string(),
      toolName: z.string(),
      result: jsonValueSchema,
      isError: z.boolean(),
      providerMetadata: optional(jsonValueSchema),
      activity: optional(z.array(activityEventSchema).readonly()),
    }),
    object({
      type: z.literal('activity'),
      activity: activityEventSchema,
      messageId: optional(z.string()),
      toolCallId: optional(z.string()),
      agentId: optional(z.string()),
    }),
    object({ type: z.literal('tool_input_start'), toolCallId: z.string(), toolName: z.string() }),
    object({
      type: z.literal('tool_input_delta'),
      toolCallId: z.string(),
      argsTextDelta: z.string(),
      toolName: optional(z.string()),
    }),
    object({ type: z.literal('tool_input_end'), toolCallId: z.string() }),
    object({
      type: z.literal('shell_output'),
      toolCallId: z.string(),
      output: z.string(),
      stream: z.enum(['stdout', 'stderr']),
    }),
  ]),
)

const subagent = { toolCallId: z.string(), parentToolCallId: optional(z.string()), agentType: z.string() }

export const subagentEventSchema: Schema<Wire<SubagentEvent>> = exact<Wire<SubagentEvent>>()(
  taggedUnion([
    object({
      type: z.literal('subagent_start'),
      ...subagent,
      task: z.string(),
      modelId: z.string(),
      forked: optional(z.boolean()),
      background: optional(z.literal(true)),
    }),
    object({ type: z.literal('subagent_text_delta'), ...subagent, textDelta: z.string() }),
    object({
      type: z.literal('subagent_tool_start'),
      ...subagent,
      subToolName: z.string(),
      subToolArgs: jsonValueSchema,
    }),
    object({
      type: z.literal('subagent_tool_end'),
      ...subagent,
      subToolName: z.string(),
      subToolResult: jsonValueSchema,
      isError: z.boolean(),
    }),
    object({
      type: z.literal('subagent_end'),
      ...subagent,
      result: z.string(),
      isError: z.boolean(),
      durationMs: z.number(),
    }),
    object({
      type: z.literal('subagent_model_changed'),
      modelId: z.string(),
      scope: z.enum(['global', 'thread']),
      agentType: optional(z.string()),
    }),
  ]),
)

export const workspaceEventSchema: Schema<Wire<WorkspaceEvent>> = exact<Wire<WorkspaceEvent>>()(
  taggedUnion([
    object({
      type: z.literal('workspace_status_changed'),
      status: z.enum(['pending', 'initializing', 'ready', 'paused', 'error', 'destroying', 'destroyed']),
      error: optional(errorDataSchema),
    }),
    object({ type: z.literal('workspace_ready'), workspaceId: z.string(), workspaceName: z.string() }),
    object({ type: z.literal('workspace_error'), error: errorDataSchema }),
  ]),
)
