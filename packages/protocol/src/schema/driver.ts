import { z } from 'zod'
import type { Budget, Capabilities, Turn, TurnDefaults, TurnOutput } from '../driver.ts'
import { finishReasonSchema, usageMetadataSchema } from './basics.ts'
import { permissionRulesSchema } from './control.ts'
import { exact, exactShape, type Schema, type Shape } from './exact.ts'
import { listOf, object, optional } from './fields.ts'
import { jsonObjectSchema } from './json.ts'
import { partSchema } from './message.ts'

const effortSchema = z.enum(['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'])

export const capabilitiesSchema: Schema<Capabilities> = exact<Capabilities>()(
  object({
    governs: z.enum(['all', 'asks-only', 'none']),
    asks: optional(z.enum(['together', 'one-by-one'])),
    refusal: optional(z.enum(['goes-on', 'may-end-turn'])),
    continuity: z.enum(['log', 'native']),
    steer: z.enum(['inject', 'queue', 'restart', 'none']),
    resume: z.enum(['anchor', 'head', 'none']),
    fork: z.enum(['anchor', 'head', 'none']),
    handover: z.enum(['items', 'text']),
    hostTools: z.enum(['inproc', 'mcp', 'protocol', 'none']),
    interrupt: z.enum(['clean', 'kill']),
    usage: z.enum(['turn', 'cumulative', 'none']),
    redaction: z.enum(['all', 'record']),
    images: z.boolean(),
    mcp: z.boolean(),
    subagents: z.boolean(),
    systemPrompt: z.enum(['replace', 'append', 'none']),
    models: z.nullable(listOf(z.string())),
    effort: listOf(effortSchema),
    output: z.boolean(),
    limits: z.boolean(),
    maxSteps: z.boolean(),
    sessions: z.boolean(),
    version: optional(z.string()),
  }),
)

export const turnOutputSchema: Schema<TurnOutput> = exact<TurnOutput>()(
  object({
    schema: jsonObjectSchema,
    name: optional(z.string()),
    description: optional(z.string()),
    repairs: optional(z.number()),
  }),
)

export const budgetSchema: Schema<Budget> = exact<Budget>()(
  object({
    tokens: optional(z.number()),
    usd: optional(z.number()),
    ms: optional(z.number()),
    warnAt: optional(z.number()),
  }),
)

const turnDefaultFields: Shape<TurnDefaults> = exactShape<TurnDefaults>()({
  model: optional(z.string()),
  effort: optional(effortSchema),
  instructions: optional(z.string()),
  cwd: optional(z.string()),
  maxSteps: optional(z.number()),
  providerOptions: optional(jsonObjectSchema),
  output: optional(turnOutputSchema),
  budget: optional(budgetSchema),
  onLimit: optional(z.enum(['fail', 'park'])),
})

export const turnDefaultsSchema: Schema<TurnDefaults> = exact<TurnDefaults>()(object(turnDefaultFields))

export const turnSchema: Schema<Turn> = exact<Turn>()(
  object({
    turnId: z.string(),
    runId: z.string(),
    threadId: z.string(),
    input: listOf(partSchema),
    ...turnDefaultFields,
    rules: optional(permissionRulesSchema),
    requestContext: optional(jsonObjectSchema),
    toolServer: optional(object({ url: z.string(), token: z.string() })),
    resumed: optional(
      object({
        attempt: z.number(),
        usage: optional(usageMetadataSchema),
        nextStep: optional(z.number()),
        step: optional(object({ finishReason: finishReasonSchema, usage: optional(usageMetadataSchema) })),
      }),
    ),
  }),
)
