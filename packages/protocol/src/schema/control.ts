import { z } from 'zod'
import type { Binding } from '../binding.ts'
import type { LineageRange, StoredLineage } from '../lineage.ts'
import type { Grants, GrantScope, PatternRule, PermissionRules, Policy, ToolCategory } from '../permission.ts'
import type { Goal, TaskItem } from '../task.ts'
import type { Answer, Wait, WaitCancelReason, WaitKind, WaitRequest, WaitState, WaitSubject } from '../wait.ts'
import { errorDataSchema, usageTotalsSchema } from './basics.ts'
import { exact, exactShape, type Schema, type Shape } from './exact.ts'
import { listOf, mapOf, object, optional, seq } from './fields.ts'
import { jsonObjectSchema, jsonValueSchema } from './json.ts'

export const waitSubjectSchema: Schema<WaitSubject> = exact<WaitSubject>()(
  object({
    agentId: optional(z.string()),
    toolCallId: optional(z.string()),
    toolName: optional(z.string()),
    args: optional(jsonObjectSchema),
    hash: optional(z.string()),
    judgedAs: optional(listOf(z.string())),
  }),
)

export const waitKind: Schema<WaitKind> = exact<WaitKind>()(
  z.enum(['approval', 'question', 'plan', 'access', 'tool', 'limit', 'child']),
)

const waitFields: Shape<WaitRequest> = exactShape<WaitRequest>()({
  id: z.string(),
  kind: waitKind,
  subject: waitSubjectSchema,
  description: z.string(),
  payload: optional(jsonObjectSchema),
  answerSchema: optional(z.string()),
  resumable: optional(z.boolean()),
  preconditions: optional(jsonObjectSchema),
  interrupted: optional(z.literal(true)),
  due: optional(z.number()),
})

export const waitRequestSchema: Schema<WaitRequest> = exact<WaitRequest>()(object(waitFields))

export const waitSchema: Schema<Wait> = exact<Wait>()(
  object({
    ...waitFields,
    run: optional(z.string()),
    turn: optional(z.string()),
    call: optional(object({ messageId: z.string(), partId: z.string() })),
    openedAt: seq,
    at: z.number(),
  }),
)

export const waitStateSchema: Schema<WaitState> = exact<WaitState>()(
  z.enum(['pending', 'answered', 'cancelled', 'superseded']),
)

export const waitCancelReasonSchema: Schema<WaitCancelReason> = exact<WaitCancelReason>()(
  z.enum(['abort', 'rewind', 'delete', 'timeout', 'erase']),
)

export const grantScopeSchema: Schema<GrantScope> = exact<GrantScope>()(z.enum(['thread', 'resource']))

export const answerSchema: Schema<Answer> = exact<Answer>()(
  object({
    decision: z.enum(['approve', 'decline', 'answer']),
    value: optional(jsonValueSchema),
    reason: optional(z.string()),
    remember: optional(z.enum(['tool', 'category'])),
    scope: optional(grantScopeSchema),
    error: optional(errorDataSchema),
  }),
)

export const toolCategorySchema: Schema<ToolCategory> = exact<ToolCategory>()(
  z.enum(['read', 'edit', 'execute', 'mcp', 'other']),
)

export const policySchema: Schema<Policy> = exact<Policy>()(z.enum(['allow', 'ask', 'deny']))

export const patternRuleSchema: Schema<PatternRule> = exact<PatternRule>()(
  object({
    tool: z.string(),
    pattern: z.string(),
    policy: policySchema,
    match: optional(listOf(z.string())),
    notMatch: optional(listOf(z.string())),
  }),
)

export const permissionRulesSchema: Schema<PermissionRules> = exact<PermissionRules>()(
  object({
    categories: object({
      read: optional(policySchema),
      edit: optional(policySchema),
      execute: optional(policySchema),
      mcp: optional(policySchema),
      other: optional(policySchema),
    }),
    tools: mapOf(policySchema),
    patterns: listOf(patternRuleSchema),
  }),
)

export const grantsSchema: Schema<Grants> = exact<Grants>()(
  object({ categories: listOf(toolCategorySchema), tools: listOf(z.string()) }),
)

export const taskItemSchema: Schema<TaskItem> = exact<TaskItem>()(
  object({
    id: z.string(),
    content: z.string(),
    status: z.enum(['pending', 'in_progress', 'completed']),
    activeForm: z.string(),
  }),
)

export const goalSchema: Schema<Goal> = exact<Goal>()(
  object({
    objective: z.string(),
    status: z.enum(['active', 'paused', 'done']),
    runsUsed: z.number(),
    maxRuns: optional(z.number()),
    judgeModelId: optional(z.string()),
    prompt: optional(z.string()),
    pausedReason: optional(z.string()),
    startedAt: z.number(),
    updatedAt: z.number(),
  }),
)

export const bindingSchema: Schema<Binding> = exact<Binding>()(
  object({
    agentId: z.string(),
    nativeId: z.string(),
    syncedTo: seq,
    anchor: optional(z.string()),
    usageTotal: optional(usageTotalsSchema),
    cwd: optional(z.string()),
    version: optional(z.string()),
    stale: optional(z.enum(['rewound', 'erased'])),
    origin: optional(z.literal(true)),
    extra: optional(jsonObjectSchema),
  }),
)

export const lineageRangeSchema: Schema<LineageRange> = exact<LineageRange>()(
  object({ stream: z.string(), from: seq, to: z.nullable(seq) }),
)

export const storedLineageSchema: Schema<StoredLineage> = exact<StoredLineage>()(listOf(lineageRangeSchema))
