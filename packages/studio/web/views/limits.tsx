import { useEffect, useState, type ReactNode } from 'react'
import type { AgentLimitReport, Client, MemoryProgress } from '@inspan/client'
import { useHarness } from '@inspan/client/react'
import { Meter } from '../parts/meter.tsx'
import { Section } from '../parts/section.tsx'

/** Limits of providers that agents have met, with the time that is left until each ends. */
export function LimitBar({ client }: { readonly client: Client }): ReactNode {
  const { state } = useHarness(client, ({ head, status, thread }) => ({
    thread,
    moment: `${status} ${head.lastRun?.endedSeq ?? ''}`,
  }))
  const { moment, thread } = state
  const [limits, setLimits] = useState<readonly AgentLimitReport[]>([])
  const [now, setNow] = useState(Date.now())
  useEffect(() => {
    let isCurrent = true
    client.routes.limits(thread).then(
      ({ agents }) => isCurrent && setLimits(agents),
      () => isCurrent && setLimits([]),
    )
    return () => {
      isCurrent = false
    }
  }, [client, thread, moment])
  const met = limits.filter(({ resetsAt = Infinity, status }) => status !== 'ok' && resetsAt > now)
  const isCounting = met.length > 0
  useEffect(() => {
    if (!isCounting) return
    const timer = setInterval(() => setNow(Date.now()), 1000)
    return () => clearInterval(timer)
  }, [isCounting])
  return met.map(({ agentId, name, resetsAt, status, used }) => (
    <p
      key={`${agentId} ${name}`}
      className={`border-b border-(--line) bg-(--panel) px-4 py-1.5 text-sm ${status === 'reached' ? 'text-(--bad)' : ''}`}
    >
      {agentId} {status === 'reached' ? 'has reached' : 'is near'} its limit &quot;{name}&quot;
      {used === undefined ? '' : ` (${Math.round(used * 100)} % used)`}.{' '}
      {resetsAt === undefined ? '' : `It starts anew in ${countdown(resetsAt - now)}.`}
    </p>
  ))
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
