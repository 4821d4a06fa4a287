import type { UsageIncrement } from '@inspan/protocol'
import type { Mutable } from './event-parts.ts'

/** The counted fields, in the order in which they are stored and reported. */
export const FIELDS = [
  'inputTokens',
  'outputTokens',
  'totalTokens',
  'reasoningTokens',
  'cachedInputTokens',
  'cacheWriteInputTokens',
  'costUsd',
] as const

export type Field = (typeof FIELDS)[number]

export const INPUT = 0
export const OUTPUT = 1
export const TOTAL = 2
export const REASONING = 3
export const CACHED = 4
export const CACHE_WRITE = 5
export const COST = 6

/** The order in which fields are reported. A total that we computed ourselves comes last. */
export const TOLD: readonly number[] = [INPUT, OUTPUT, TOTAL, REASONING, CACHED, CACHE_WRITE, COST]
export const TOLD_WITH_OWN_TOTAL: readonly number[] = [INPUT, OUTPUT, REASONING, CACHED, CACHE_WRITE, COST, TOTAL]

/**
 * One number per field, NaN if unknown. Some CLIs report usage with every step, and objects whose fields come and go
 * are slow to count with.
 */
export type Counts = Float64Array

export function noCounts(): Counts {
  return new Float64Array(FIELDS.length).fill(Number.NaN)
}

export function hasCounts(counts: Counts): boolean {
  for (let at = 0; at < FIELDS.length; at += 1) if (isKnown(counts, at)) return true
  return false
}

/** Returns 0 for an unknown count. */
export function countOf(counts: Counts, at: number): number {
  const count = counts[at] ?? 0
  return Number.isNaN(count) ? 0 : count
}

export function isKnown(counts: Counts, at: number): boolean {
  return !Number.isNaN(counts[at] ?? Number.NaN)
}

/** Overwrites `counts` with what is known in `newer`. */
export function setCounts(counts: Counts, newer: Counts): void {
  for (let at = 0; at < FIELDS.length; at += 1) if (isKnown(newer, at)) counts[at] = countOf(newer, at)
}

/** Returns an increment with the known fields. */
export function incrementOf(
  counts: Counts,
  scope: UsageIncrement['scope'],
  isCounted: boolean,
  isOwnTotal: boolean,
): UsageIncrement {
  const increment: Mutable<Partial<UsageIncrement>> = {}
  if (isKnown(counts, INPUT)) increment.inputTokens = countOf(counts, INPUT)
  if (isKnown(counts, OUTPUT)) increment.outputTokens = countOf(counts, OUTPUT)
  if (!isOwnTotal && isKnown(counts, TOTAL)) increment.totalTokens = countOf(counts, TOTAL)
  if (isKnown(counts, REASONING)) increment.reasoningTokens = countOf(counts, REASONING)
  if (isKnown(counts, CACHED)) increment.cachedInputTokens = countOf(counts, CACHED)
  if (isKnown(counts, CACHE_WRITE)) increment.cacheWriteInputTokens = countOf(counts, CACHE_WRITE)
  if (isKnown(counts, COST)) increment.costUsd = countOf(counts, COST)
  if (isOwnTotal && isKnown(counts, TOTAL)) increment.totalTokens = countOf(counts, TOTAL)
  increment.source = 'reported'
  increment.scope = scope
  if (!isCounted) increment.uncounted = true
  return increment as UsageIncrement
}
