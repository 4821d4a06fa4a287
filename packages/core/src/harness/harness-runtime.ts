import type { Store } from '@evener/protocol'
import type { HarnessAgent } from './harness-config.ts'

/** What the harness works with, for evaluations, tracing and tools that look inside. */
export interface HarnessRuntime {
  readonly store: Store
  getAgent(id: string): HarnessAgent | undefined
  listAgents(): readonly HarnessAgent[]
  /** As they were given; `undefined` when they were not. */
  readonly memory: unknown
  readonly observability: unknown
  readonly pubsub: unknown
  readonly scorers: ReadonlyMap<string, unknown>
  addScorer(id: string, scorer: unknown): void
}

export interface RuntimeParts {
  readonly store: Store
  readonly agents: readonly HarnessAgent[]
  readonly memory: unknown
  readonly observability: unknown
  readonly pubsub: unknown
}

export function harnessRuntime({ agents, ...parts }: RuntimeParts): HarnessRuntime {
  const scorers = new Map<string, unknown>()
  return {
    ...parts,
    scorers,
    getAgent: (id) => agents.find((agent) => agent.id === id),
    listAgents: () => agents,
    addScorer: (id, scorer) => void scorers.set(id, scorer),
  }
}
