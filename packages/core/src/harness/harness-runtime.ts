import type { Store } from '@inspan/protocol/store'
import type { HarnessAgent } from './harness-config.ts'
import type { Scorer, Scorers } from './runs/run-scorers.ts'

/** The parts a harness works with, for evaluations, tracing and tools that look inside. */
export interface HarnessRuntime {
  readonly store: Store
  getAgent(id: string): HarnessAgent | undefined
  listAgents(): readonly HarnessAgent[]
  /** As given in the configuration; `undefined` when absent. */
  readonly memory: unknown
  readonly observability: unknown
  readonly pubsub: unknown
  readonly scorers: Scorers
  /** Adds a scorer, called after every completed run. Its score is recorded with the run. */
  addScorer(id: string, scorer: Scorer): void
  removeScorer(id: string): void
}

type RuntimeParts = Pick<HarnessRuntime, 'store' | 'memory' | 'observability' | 'pubsub'> & {
  readonly agents: readonly HarnessAgent[]
  readonly scorers: Map<string, Scorer>
}

export function harnessRuntime({ agents, ...parts }: RuntimeParts): HarnessRuntime {
  const { scorers } = parts
  return {
    ...parts,
    getAgent: (id) => agents.find((agent) => agent.id === id),
    listAgents: () => agents,
    addScorer: (id, scorer) => void scorers.set(id, scorer),
    removeScorer: (id) => void scorers.delete(id),
  }
}
