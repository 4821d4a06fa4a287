import { z } from 'zod'
import type {
  ActivityBase,
  ActivityEvent,
  ActivityNote,
  AgentActivity,
  CommandActivity,
  ErrorActivity,
  ListActivity,
  OrchestrationActivity,
  ReadActivity,
  SearchActivity,
  SkillActivity,
  UnknownActivity,
  WarningActivity,
  WriteActivity,
} from '../activity.ts'
import { exact, exactShape, type Schema, type Shape } from './exact.ts'
import { listOf, object, optional, taggedUnion } from './fields.ts'
import { jsonValueSchema } from './json.ts'

const base: Shape<ActivityBase> = exactShape<ActivityBase>()({
  timestamp: z.string(),
  sessionId: optional(z.string()),
})

const isSuccess = optional(z.boolean())
const lines = { startLine: optional(z.number()), endLine: optional(z.number()), isSuccess }

export const agentActivitySchema: Schema<AgentActivity> = exact<AgentActivity>()(
  object({ ...base, type: z.literal('agent'), message: z.string() }),
)

export const commandActivitySchema: Schema<CommandActivity> = exact<CommandActivity>()(
  object({
    ...base,
    type: z.literal('command'),
    command: z.string(),
    workingDirectory: optional(z.string()),
    exitCode: optional(z.number()),
    isSuccess,
  }),
)

export const readActivitySchema: Schema<ReadActivity> = exact<ReadActivity>()(
  object({ ...base, type: z.literal('read'), path: z.string(), ...lines }),
)

export const writeActivitySchema: Schema<WriteActivity> = exact<WriteActivity>()(
  object({ ...base, type: z.literal('write'), path: z.string(), ...lines }),
)

export const searchActivitySchema: Schema<SearchActivity> = exact<SearchActivity>()(
  object({ ...base, type: z.literal('search'), query: z.string(), path: optional(z.string()), isSuccess }),
)

export const listActivitySchema: Schema<ListActivity> = exact<ListActivity>()(
  object({ ...base, type: z.literal('list'), path: optional(z.string()), isSuccess }),
)

export const skillActivitySchema: Schema<SkillActivity> = exact<SkillActivity>()(
  object({ ...base, type: z.literal('skill'), path: z.string(), skillName: optional(z.string()), ...lines }),
)

export const orchestrationActivitySchema: Schema<OrchestrationActivity> = exact<OrchestrationActivity>()(
  object({
    ...base,
    type: z.literal('orchestration'),
    action: z.enum(['subagent_started', 'subagent_completed', 'subagent_failed']),
    subagentId: optional(z.string()),
    subagentName: optional(z.string()),
    isSuccess,
  }),
)

export const errorActivitySchema: Schema<ErrorActivity> = exact<ErrorActivity>()(
  object({ ...base, type: z.literal('error'), message: z.string(), code: optional(z.string()) }),
)

export const warningActivitySchema: Schema<WarningActivity> = exact<WarningActivity>()(
  object({ ...base, type: z.literal('warning'), message: z.string(), code: optional(z.string()) }),
)

export const unknownActivitySchema: Schema<UnknownActivity> = exact<UnknownActivity>()(
  object({ ...base, type: z.literal('unknown'), raw: jsonValueSchema }),
)

export const activityEventSchema: Schema<ActivityEvent> = exact<ActivityEvent>()(
  taggedUnion([
    agentActivitySchema,
    commandActivitySchema,
    readActivitySchema,
    writeActivitySchema,
    searchActivitySchema,
    listActivitySchema,
    skillActivitySchema,
    orchestrationActivitySchema,
    errorActivitySchema,
    warningActivitySchema,
    unknownActivitySchema,
  ]),
)

export const activityNoteSchema: Schema<ActivityNote> = exact<ActivityNote>()(
  object({ mapper: z.string(), version: z.number(), events: listOf(activityEventSchema) }),
)
