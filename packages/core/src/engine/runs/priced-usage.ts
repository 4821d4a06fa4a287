import { setImmediate as nextTask } from 'node:timers/promises'
import type { CostedUsage, UsageMetadata } from '@inspan/protocol'
import { unlessAborted } from '@inspan/protocol/internal'

/** Returns what a model charges for its tokens, in dollars; `undefined` if unknown. */
export type PriceOf = (model: string, usage: UsageMetadata) => number | undefined | Promise<number | undefined>

/** Whether tokens were used whose cost is unknown. */
export function isUnpriced({ costUsd, estimatedUsd: _estimated, ...tokens }: CostedUsage): boolean {
  return costUsd === undefined && Object.values(tokens).some((count) => count > 0)
}

/** Wraps `priceOf` so that a cancelled run does not wait for a price that has to be looked up first. */
export function pricesUntil(signal: AbortSignal, priceOf: PriceOf): PriceOf {
  return (model, usage) => {
    const price = priceOf(model, usage)
    return signal.aborted ? Promise.race([price, nextTask(undefined)]) : unlessAborted(signal, price)
  }
}

/** Adds the cost to the usage if it is known. A failing price list must not end a turn. */
export async function pricedUsage(
  usage: UsageMetadata,
  model: string | undefined,
  priceOf: PriceOf | undefined,
): Promise<CostedUsage> {
  if (model === undefined || priceOf === undefined) return usage
  try {
    const costUsd = await priceOf(model, usage)
    return costUsd === undefined ? usage : { ...usage, costUsd, estimatedUsd: costUsd }
  } catch {
    return usage
  }
}
