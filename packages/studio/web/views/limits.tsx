import { useEffect, useState, type ReactNode } from 'react'
import type { Client, MemoryProgress } from '@inspan/client'
import { useHarness } from '@inspan/client/react'
import { Meter } from '../parts/meter.tsx'
import { Section } from '../parts/section.tsx'

/** What the provider's limit makes the thread wait for, with the time that is left. */
export function LimitBar({ client }: { readonly client: Client }): ReactNode {
  const { state: limit } = useHarness(client, ({ head }) => [...head.waits].find(({ kind }) => kind === 'limit'))
  const [now, setNow] = useState(Date.now())
  const until = limit?.due
  useEffect(() => {
    if (until === undefined) return
    const timer = setInterval(() => setNow(Date.now()), 1000)
    return () => clearInterval(timer)
  }, [until])
  if (limit === undefined) return null
  return (
    <p role="status" className="border-b border-(--line) bg-(--panel) px-4 py-1.5 text-sm">
      {limit.description}{' '}
      {until === undefined
        ? 'It goes on as soon as the provider allows it.'
        : `It goes on in ${countdown(until - now)}.`}
    </p>
  )
}

export function countdown(ms: number): string {
  const seconds = Math.max(0, Math.ceil(ms / 1000))
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor((seconds % 3600) / 60)]
  const two = (value: number): string => String(value).padStart(2, '0')
  return hours > 0 ? `${hours}:${two(minutes)}:${two(seconds % 60)}` : `${minutes}:${two(seconds % 60)}`
}

/** How close the memory of the thread is to writing down what was said. */
export function Memory({ client }: { readonly client: Client }): ReactNode {
  const { state } = useHarness(client, ({ head, status, thread }) => ({
    thread,
    moment: `${status} ${head.lastRun?.endedSeq ?? ''}`,
  }))
  const { moment, thread } = state
  const [memory, setMemory] = useState<MemoryProgress | null>(null)
  useEffect(() => {
    let isCurrent = true
    client.routes.memory(thread).then(
      (found) => isCurrent && setMemory(found),
      () => isCurrent && setMemory(null),
    )
    return () => {
      isCurrent = false
    }
  }, [client, thread, moment])
  if (memory === null) return null
  const { generation, observations, observationTokens = 0, pendingTokens = 0, reflectionThreshold, threshold } = memory
  return (
    <Section title="Memory">
      <Meter label="Until it observes" value={pendingTokens} most={threshold} />
      <Meter label="Until it reflects" value={observationTokens} most={reflectionThreshold} />
      <p className="text-xs text-(--soft)">Reflected {generation} times.</p>
      {observations !== undefined && observations !== '' && (
        <details className="text-sm">
          <summary className="cursor-pointer">What it remembers</summary>
          <p className="whitespace-pre-wrap">{observations}</p>
        </details>
      )}
    </Section>
  )
}
