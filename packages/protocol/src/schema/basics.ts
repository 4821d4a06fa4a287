import { z } from 'zod'
import type { BlobRef } from '../blob.ts'
import type { ErrorData } from '../error-data.ts'
import type { FinishReason, UsageIncrement, UsageMetadata, UsageTotals } from '../usage.ts'
import { exact, exactShape, type Schema, type Shape } from './exact.ts'
import { object, optional } from './fields.ts'
import { jsonValueSchema } from './json.ts'

export const errorDataSchema: Schema<ErrorData> = exact<ErrorData>()(
  object({
    name: z.string(),
    message: z.string(),
    code: optional(z.string()),
    stack: optional(z.string()),
    details: optional(jsonValueSchema),
    get cause(): z.ZodExactOptional<Schema<ErrorData>> {
      return optional(errorDataSchema)
    },
  }),
)

export const blobRefSchema: Schema<BlobRef> = exact<BlobRef>()(
  object({ blob: z.string(), size: z.number(), mime: z.string(), preview: optional(z.string()) }),
)

const usageFields: Shape<UsageMetadata> = exactShape<UsageMetadata>()({
  inputTokens: optional(z.number()),
  outputTokens: optional(z.number()),
  totalTokens: optional(z.number()),
  reasoningTokens: optional(z.number()),
  cachedInputTokens: optional(z.number()),
  cacheWriteInputTokens: optional(z.number()),
})

export const usageMetadataSchema: Schema<UsageMetadata> = exact<UsageMetadata>()(object(usageFields))

export const usageIncrementSchema: Schema<UsageIncrement> = exact<UsageIncrement>()(
  object({
    ...usageFields,
    costUsd: optional(z.number()),
    estimatedUsd: optional(z.number()),
    source: z.enum(['reported', 'estimated']),
    scope: z.enum(['own', 'subagents']),
    uncounted: optional(z.literal(true)),
  }),
)

export const usageTotalsSchema: Schema<UsageTotals> = exact<UsageTotals>()(
  object({
    inputTokens: z.number(),
    outputTokens: z.number(),
    totalTokens: z.number(),
    reasoningTokens: z.number(),
    cachedInputTokens: z.number(),
    cacheWriteInputTokens: z.number(),
    costUsd: z.number(),
    estimatedUsd: optional(z.number()),
  }),
)

export const finishReasonSchema: Schema<FinishReason> = exact<FinishReason>()(
  z.enum(['stop', 'length', 'tool-calls', 'content-filter', 'error', 'other']),
)
