import type { calcPrice, findProvider, ModelInfo } from '@pydantic/genai-prices'
import type { UsageMetadata } from '@inspan/protocol'
import { defined } from '@inspan/protocol/internal'
import { knownProvider, splitModelId, type KnownProvider } from './known-providers.ts'
import type { ModelPrice } from './model-types.ts'

export interface ModelFacts {
  readonly modelName: string
  readonly contextWindow?: number
  readonly price?: ModelPrice
  readonly isDeprecated: boolean
}

type PriceTable = Exclude<ModelInfo['prices'], readonly unknown[]>

/** Loads the price list, a snapshot in a package of its own, on first use and not at the start. */
async function prices(): Promise<{ calcPrice: typeof calcPrice; findProvider: typeof findProvider }> {
  return import('@pydantic/genai-prices')
}

export async function listedModels(provider: KnownProvider): Promise<readonly ModelFacts[]> {
  const { findProvider } = await prices()
  return (findProvider({ providerId: provider.pricedAs })?.models ?? []).map((model) => factsOf(model, Date.now()))
}

/** Returns the price in US dollars; `undefined` when the list does not know the model. */
export async function priceOf(modelId: string, usage: UsageMetadata, now?: number): Promise<number | undefined> {
  const { calcPrice } = await prices()
  const { provider, modelName } = splitModelId(modelId)
  const cached = usage.cachedInputTokens ?? 0
  const cacheWritten = usage.cacheWriteInputTokens ?? 0
  const calculated = calcPrice(
    {
      // Our count is of uncached tokens, the list's is of all.
      input_tokens: (usage.inputTokens ?? 0) + cached + cacheWritten,
      output_tokens: usage.outputTokens ?? 0,
      ...(cached === 0 ? {} : { cache_read_tokens: cached }),
      ...(cacheWritten === 0 ? {} : { cache_write_tokens: cacheWritten }),
    },
    modelName,
    {
      ...(provider === '' ? {} : { providerId: knownProvider(provider)?.pricedAs ?? provider }),
      ...(now === undefined ? {} : { timestamp: new Date(now) }),
    },
  )
  return calculated?.total_price
}

function factsOf(model: ModelInfo, now: number): ModelFacts {
  const price = priceNow(model.prices, now)
  return {
    modelName: model.id,
    ...defined({ contextWindow: model.context_window, price }),
    isDeprecated: model.deprecated === true,
  }
}

/** Price changes are listed before they take effect; the newest whose date has come is in force. */
function priceNow(given: ModelInfo['prices'], now: number): ModelPrice | undefined {
  if (!Array.isArray(given)) return toPrice(given)
  const inForce = given.findLast(({ constraint }) => {
    if (constraint === undefined) return true
    return constraint.type === 'start_date' && Date.parse(constraint.start_date) <= now
  })
  return inForce === undefined ? undefined : toPrice(inForce.prices)
}

function toPrice(table: PriceTable): ModelPrice | undefined {
  const price = {
    ...rate('input', table['input_mtok']),
    ...rate('output', table['output_mtok']),
    ...rate('cacheRead', table['cache_read_mtok']),
    ...rate('cacheWrite', table['cache_write_mtok']),
  }
  return Object.keys(price).length === 0 ? undefined : price
}

/** Where long prompts cost more, this is the price of short ones. */
function rate(key: keyof ModelPrice, value: PriceTable[string]): ModelPrice {
  if (value === undefined) return {}
  return { [key]: typeof value === 'number' ? value : value.base }
}
