import { z } from 'zod'
import type { HarnessMessage, TokenUsage } from '../../harness-message.ts'
import type { HarnessThread } from '../../harness-thread.ts'
import type { Wire } from '../../wire-form.ts'
import { exact, type Schema } from '../exact.ts'
import { listOf, object, optional } from '../fields.ts'
import { jsonObjectSchema, jsonValueSchema } from '../json.ts'
import { harnessMessageContentSchema } from './content.ts'

export const tokenUsageSchema: Schema<Wire<TokenUsage>> = exact<Wire<TokenUsage>>()(
  object({
    promptTokens: z.number(),
    completionTokens: z.number(),
    totalTokens: z.number(),
    reasoningTokens: z.number(),
    cachedInputTokens: z.number(),
    cacheCreationInputTokens: z.number(),
    raw: optional(jsonValueSchema),
  }),
)

/** Dates are ISO 8601 text, as `Date.prototype.toISOString` writes it. */
export const isoDate: Schema<string> = z.iso.datetime()

export const harnessMessageSchema: Schema<Wire<HarnessMessage>> = exact<Wire<HarnessMessage>>()(
  object({
    id: z.string(),
    role: z.enum(['user', 'assistant', 'system']),
    content: listOf(harnessMessageContentSchema),
    createdAt: isoDate,
    attributes: optional(jsonObjectSchema),
    stopReason: optional(z.enum(['complete', 'tool_use', 'aborted', 'error'])),
    errorMessage: optional(z.string()),
  }),
)

export const harnessThreadSchema: Schema<Wire<HarnessThread>> = exact<Wire<HarnessThread>>()(
  object({
    id: z.string(),
    resourceId: z.string(),
    title: optional(z.string()),
    createdAt: isoDate,
    updatedAt: isoDate,
    tokenUsage: optional(tokenUsageSchema),
    metadata: optional(jsonObjectSchema),
  }),
)
