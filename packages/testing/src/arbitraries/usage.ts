import type { FinishReason, UsageIncrement, UsageMetadata, UsageTotals } from '@inspan/protocol'
import * as fc from 'fast-check'
import { arbitraryCount } from './json.ts'
import { shape } from './shape.ts'

const cost: fc.Arbitrary<number> = fc.nat({ max: 1_000_000 }).map((micros) => micros / 1_000_000)

const tokens = {
  inputTokens: arbitraryCount,
  outputTokens: arbitraryCount,
  totalTokens: arbitraryCount,
  reasoningTokens: arbitraryCount,
  cachedInputTokens: arbitraryCount,
  cacheWriteInputTokens: arbitraryCount,
}

export const arbitraryFinishReason: fc.Arbitrary<FinishReason> = fc.constantFrom(
  'stop',
  'length',
  'tool-calls',
  'content-filter',
  'error',
  'other',
)

export const arbitraryUsage: fc.Arbitrary<UsageMetadata> = shape<UsageMetadata>({}, tokens)

export const arbitraryUsageIncrement: fc.Arbitrary<UsageIncrement> = shape<UsageIncrement>(
  { source: fc.constantFrom('reported', 'estimated'), scope: fc.constantFrom('own', 'subagents') },
  { ...tokens, costUsd: cost, estimatedUsd: cost, uncounted: fc.constant(true) },
)

export const arbitraryUsageTotals: fc.Arbitrary<UsageTotals> = shape<UsageTotals>(
  { ...tokens, costUsd: cost },
  { estimatedUsd: cost },
)
