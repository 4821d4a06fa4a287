import type { ReactNode } from 'react'
import type { Client } from '@inspan/client'
import { useHarness } from '@inspan/client/react'
import { Section } from '../parts/section.tsx'

/** Tokens and cost of the thread, and how much the last step had in its context. */
export function Usage({ client }: { readonly client: Client }): ReactNode {
  const { state: usage } = useHarness(client, ({ head }) => head.usage)
  const { lastStep, own, subagents } = usage
  const context =
    (lastStep.inputTokens ?? 0) + (lastStep.cachedInputTokens ?? 0) + (lastStep.cacheWriteInputTokens ?? 0)
  const cost = own.costUsd + subagents.costUsd
  return (
    <Section title="Usage">
      <dl className="grid grid-cols-2 text-sm">
        <Row name="Input tokens" value={(own.inputTokens + subagents.inputTokens).toLocaleString()} />
        <Row name="Output tokens" value={(own.outputTokens + subagents.outputTokens).toLocaleString()} />
        {own.cachedInputTokens > 0 && <Row name="From the cache" value={own.cachedInputTokens.toLocaleString()} />}
        {subagents.totalTokens > 0 && <Row name="Of subagents" value={subagents.totalTokens.toLocaleString()} />}
        <Row name="Context of the last step" value={context.toLocaleString()} />
        {cost > 0 && <Row name="Cost" value={`$${cost.toFixed(4)}`} />}
      </dl>
    </Section>
  )
}

function Row({ name, value }: { readonly name: string; readonly value: string }): ReactNode {
  return (
    <>
      <dt className="text-(--soft)">{name}</dt>
      <dd>{value}</dd>
    </>
  )
}
