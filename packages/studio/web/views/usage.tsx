import type { ReactNode } from 'react'
import { describeCost, type Client } from '@inspan/client'
import { useHarness } from '@inspan/client/react'
import { Meter } from '../parts/meter.tsx'
import { Section } from '../parts/section.tsx'
import type { UsageTotals } from '@inspan/protocol'
import type { Choices, ShownModelFacts } from '../use-choices.ts'

/** Tokens, how full the context is, and what it has cost. */
export function Usage({ choices, client }: { readonly client: Client; readonly choices: Choices }): ReactNode {
  const { state } = useHarness(client, ({ head }) => ({ usage: head.usage, mode: head.mode, model: head.model }))
  const { lastStep, own, subagents } = state.usage
  const context =
    (lastStep.inputTokens ?? 0) + (lastStep.cachedInputTokens ?? 0) + (lastStep.cacheWriteInputTokens ?? 0)
  const usual = choices.modes.find(({ id }) => id === (state.mode ?? choices.modes[0]?.id))?.defaultModelId
  const { contextWindow: most, price } = choices.facts.get(state.model ?? usual ?? '') ?? {}
  const reported = own.costUsd + subagents.costUsd
  const guessed = reported > 0 || price === undefined ? 0 : priceOf(own, price) + priceOf(subagents, price)
  const cost = describeCost({
    costUsd: reported + guessed,
    estimatedUsd: (own.estimatedUsd ?? 0) + (subagents.estimatedUsd ?? 0) + guessed,
  })
  return (
    <Section title="Usage">
      {most !== undefined && <Meter label="Context" value={context} most={most} />}
      <dl className="grid grid-cols-2 text-sm">
        <Row name="Input tokens" value={(own.inputTokens + subagents.inputTokens).toLocaleString()} />
        <Row name="Output tokens" value={(own.outputTokens + subagents.outputTokens).toLocaleString()} />
        {own.cachedInputTokens > 0 && <Row name="From the cache" value={own.cachedInputTokens.toLocaleString()} />}
        {subagents.totalTokens > 0 && <Row name="Of subagents" value={subagents.totalTokens.toLocaleString()} />}
        {most === undefined && <Row name="Context" value={context.toLocaleString()} />}
        {cost !== '' && <Row name="Cost" value={cost} />}
      </dl>
    </Section>
  )
}

/** What the tokens cost by the price list, for runs whose cost nobody has counted. */
function priceOf(used: UsageTotals, price: NonNullable<ShownModelFacts['price']>): number {
  const { cacheRead = price.input, cacheWrite = price.input, input = 0, output = 0 } = price
  const dollars =
    used.inputTokens * input +
    used.outputTokens * output +
    used.cachedInputTokens * (cacheRead ?? 0) +
    used.cacheWriteInputTokens * (cacheWrite ?? 0)
  return dollars / 1e6
}

function Row({ name, value }: { readonly name: string; readonly value: string }): ReactNode {
  return (
    <>
      <dt className="text-(--soft)">{name}</dt>
      <dd>{value}</dd>
    </>
  )
}
