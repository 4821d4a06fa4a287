/** Token counts of one step or of a whole turn. Absent means "not reported", never zero. */
export interface UsageMetadata {
  readonly inputTokens?: number
  readonly outputTokens?: number
  readonly totalTokens?: number
  readonly reasoningTokens?: number
  readonly cachedInputTokens?: number
  /** Input tokens written to the provider's cache. */
  readonly cacheWriteInputTokens?: number
}

/** What was used since the last report. Cumulative counters are turned into increments before they get here. */
export interface UsageIncrement extends UsageMetadata {
  readonly costUsd?: number
  /** The part of `costUsd` that we calculated from list prices. The rest is what the agent or its provider reported. */
  readonly estimatedUsd?: number
  readonly source: 'reported' | 'estimated'
  readonly scope: 'own' | 'subagents'
  /** The counter's baseline is unknown, so the numbers are shown but not added up. */
  readonly uncounted?: true
}

/** Running totals of a thread. */
export interface UsageTotals {
  readonly inputTokens: number
  readonly outputTokens: number
  readonly totalTokens: number
  readonly reasoningTokens: number
  readonly cachedInputTokens: number
  readonly cacheWriteInputTokens: number
  readonly costUsd: number
  /** The part of `costUsd` that is an estimate by list prices. Absent: none of it. */
  readonly estimatedUsd?: number
}

/** Usage with its cost, as far as it is known. */
export type CostedUsage = UsageMetadata & Pick<UsageIncrement, 'costUsd' | 'estimatedUsd'>

export type FinishReason = 'stop' | 'length' | 'tool-calls' | 'content-filter' | 'error' | 'other'

/** How full the model's context window was at the last step. */
export interface ContextUsage {
  readonly usage: UsageMetadata
  readonly contextWindow: number
  /** Input, cached and cache-write tokens divided by the window, from 0 to 1. `undefined` when none was reported. */
  readonly usedFraction: number | undefined
}

export const NO_USAGE: UsageTotals = Object.freeze({
  inputTokens: 0,
  outputTokens: 0,
  totalTokens: 0,
  reasoningTokens: 0,
  cachedInputTokens: 0,
  cacheWriteInputTokens: 0,
  costUsd: 0,
})

/** Adds an increment. Invalid numbers (negative, NaN, infinite) count as 0. */
export function addUsage(totals: UsageTotals, more: CostedUsage): UsageTotals {
  const input = count(more.inputTokens)
  const output = count(more.outputTokens)
  const estimatedUsd = count(totals.estimatedUsd) + count(more.estimatedUsd)
  return {
    inputTokens: totals.inputTokens + input,
    outputTokens: totals.outputTokens + output,
    totalTokens: totals.totalTokens + (more.totalTokens === undefined ? input + output : count(more.totalTokens)),
    reasoningTokens: totals.reasoningTokens + count(more.reasoningTokens),
    cachedInputTokens: totals.cachedInputTokens + count(more.cachedInputTokens),
    cacheWriteInputTokens: totals.cacheWriteInputTokens + count(more.cacheWriteInputTokens),
    costUsd: totals.costUsd + count(more.costUsd),
    ...(estimatedUsd === 0 ? {} : { estimatedUsd }),
  }
}

/** Returns the part of `whole` that is not in `counted` yet, or `undefined` when all of it is. */
export function subtractUsage(whole: UsageMetadata, counted: UsageTotals): UsageMetadata | undefined {
  const rest = Object.entries(whole).flatMap(([key, value]: [string, number | undefined]) => {
    const more = count(value) - counted[key as keyof UsageMetadata]
    return more > 0 ? [[key, more] as const] : []
  })
  return rest.length === 0 ? undefined : Object.fromEntries(rest)
}

export function contextUsage(usage: UsageMetadata, contextWindow: number): ContextUsage {
  const { inputTokens, cachedInputTokens, cacheWriteInputTokens } = usage
  if (inputTokens === undefined && cachedInputTokens === undefined && cacheWriteInputTokens === undefined) {
    return { usage, contextWindow, usedFraction: undefined }
  }
  const used = count(inputTokens) + count(cachedInputTokens) + count(cacheWriteInputTokens)
  return { usage, contextWindow, usedFraction: Math.min(1, Math.max(0, used / contextWindow)) }
}

function count(value: number | undefined): number {
  return value !== undefined && Number.isFinite(value) && value > 0 ? value : 0
}
