import type { LanguageModelV2, LanguageModelV3, LanguageModelV4 } from '@ai-sdk/provider'
import type { FinishReason, UsageMetadata } from '@inspan/protocol'

/** A model of any version of the AI SDK's provider specification that is in use. */
export type LanguageModel = LanguageModelV2 | LanguageModelV3 | LanguageModelV4

const FINISH_REASONS: ReadonlySet<string> = new Set<FinishReason>([
  'stop',
  'length',
  'tool-calls',
  'content-filter',
  'error',
  'other',
])

/** V2 has a string, V3 and V4 an object that holds it. */
export function finishReasonOf(reason: unknown): FinishReason {
  const word: unknown = isObject(reason) ? reason['unified'] : reason
  // `interrupted`: the stream ended without the provider saying that it was complete.
  if (word === 'interrupted') return 'error'
  return typeof word === 'string' && FINISH_REASONS.has(word) ? (word as FinishReason) : 'other'
}

/** V2 reports flat numbers, V3 and V4 break them down; input tokens here are the uncached ones. */
export function usageOf(usage: unknown, providerMetadata?: unknown): UsageMetadata {
  if (!isObject(usage)) return {}
  const input = usage['inputTokens']
  const output = usage['outputTokens']
  if (!isObject(input) && !isObject(output)) return flatUsage(usage, providerMetadata)
  const inputs = isObject(input) ? input : {}
  const outputs = isObject(output) ? output : {}
  const total = inputs['total']
  const outputTotal = outputs['total']
  return numbers({
    inputTokens: inputs['noCache'] ?? uncached(total, inputs['cacheRead'], inputs['cacheWrite']),
    outputTokens: outputTotal,
    totalTokens: typeof total === 'number' && typeof outputTotal === 'number' ? total + outputTotal : undefined,
    reasoningTokens: outputs['reasoning'],
    cachedInputTokens: inputs['cacheRead'],
    cacheWriteInputTokens: inputs['cacheWrite'],
  })
}

/** V2 does not say whether input tokens include the cached ones: with most providers they do. */
function flatUsage(usage: { readonly [key: string]: unknown }, providerMetadata: unknown): UsageMetadata {
  const { cachedInputTokens, inputTokens, outputTokens, reasoningTokens, totalTokens } = usage
  const anthropic = fieldOf(providerMetadata, 'anthropic')
  const bedrock = fieldOf(providerMetadata, 'bedrock')
  const isMore = typeof cachedInputTokens === 'number' && cachedInputTokens > Number(inputTokens)
  const isApart = anthropic !== undefined || bedrock !== undefined || isMore
  return numbers({
    inputTokens: isApart ? inputTokens : uncached(inputTokens, cachedInputTokens),
    outputTokens,
    totalTokens,
    reasoningTokens,
    cachedInputTokens,
    cacheWriteInputTokens:
      fieldOf(anthropic, 'cacheCreationInputTokens') ?? fieldOf(fieldOf(bedrock, 'usage'), 'cacheWriteInputTokens'),
  })
}

function fieldOf(value: unknown, name: string): unknown {
  return isObject(value) ? value[name] : undefined
}

function uncached(total: unknown, ...cached: readonly unknown[]): number | undefined {
  if (typeof total !== 'number') return undefined
  return cached.reduce<number>((left, part) => Math.max(0, left - (typeof part === 'number' ? part : 0)), total)
}

function numbers(fields: { [K in keyof UsageMetadata]: unknown }): UsageMetadata {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => typeof value === 'number'))
}

function isObject(value: unknown): value is { readonly [key: string]: unknown } {
  return typeof value === 'object' && value !== null
}
