import { setImmediate as nextTask } from 'node:timers/promises'
import { unlessAborted, type UsageMetadata } from '@evener/protocol'

/** What a model asks for its tokens, in dollars; `undefined` when that is not known. */
export type PriceOf = (model: string, usage: UsageMetadata) => number | undefined | Promise<number | undefined>

export type PricedUsage = UsageMetadata & { readonly costUsd?: number }

/** Something was used, and nobody knows what it cost. */
export function isUnpriced({ costUsd, ...tokens }: PricedUsage): boolean {
  return costUsd === undefined && Object.values(tokens).some((count) => count > 0)
}

/** Who cancels a run does not wait for a price that has to be looked up first. */
export function pricesUntil(signal: AbortSignal, priceOf: PriceOf): PriceOf {
  return (model, usage) => {
    const price = priceOf(model, usage)
    return signal.aborted ? Promise.race([price, nextTask(undefined)]) : unlessAborted(signal, price)
  }
}

/** With what it cost, as far as anybody knows. A list that cannot be read must not end a turn. */
export async function pricedUsage(
  usage: UsageMetadata,
  model: string | undefined,
  priceOf: PriceOf | undefined,
): Promise<PricedUsage> {
  if (model === undefined || priceOf === undefined) return usage
  try {
    const costUsd = await priceOf(model, usage)
    return costUsd === undefined ? usage : { ...usage, costUsd }
  } catch {
    return usage
  }
}
