import type { JsonObject } from '@inspan/protocol'
import type { OmPointer, ThreadState } from '@inspan/protocol/log'
import type { HarnessCore } from '../harness-core.ts'
import type { ObservationalMemoryRecord } from '../observational-memory.ts'

/** How far the memory of a thread is, for a client that shows it. */
export interface ServedMemory {
  /** How often observations or a summary took the place of messages. */
  readonly generation: number
  /** The seq up to which messages are left out of requests; 0 while all are sent. */
  readonly coversTo: number
  readonly threshold: number
  readonly reflectionThreshold: number
  /** What is known while the thread is open: tokens not observed yet, and tokens of the observations. */
  readonly pendingTokens?: number
  readonly observationTokens?: number
  readonly observations?: string
}

interface Observing {
  getObservationalMemoryRecord?(query: {
    readonly threadId: string
    readonly resourceId: string
  }): Promise<ObservationalMemoryRecord | null>
}

const DEFAULT_THRESHOLDS = { observation: 30_000, reflection: 40_000 } as const

export async function servedMemory(
  core: HarnessCore,
  threadId: string,
  resourceId: string,
): Promise<ServedMemory | null> {
  const { memory, omConfig } = core.config
  if (memory === undefined || typeof memory === 'function') return null
  const state = await core.threads.registry.read(threadId)
  const record = await (memory as Observing).getObservationalMemoryRecord?.({ threadId, resourceId })
  return {
    ...covered(state.head.om),
    threshold:
      setting(state, 'observationThreshold') ?? omConfig?.defaultObservationThreshold ?? DEFAULT_THRESHOLDS.observation,
    reflectionThreshold:
      setting(state, 'reflectionThreshold') ?? omConfig?.defaultReflectionThreshold ?? DEFAULT_THRESHOLDS.reflection,
    ...(record === null || record === undefined
      ? {}
      : {
          pendingTokens: record.pendingMessageTokens,
          observationTokens: record.observationTokenCount,
          observations: record.activeObservations,
        }),
  }
}

function covered(pointer: OmPointer | null): { generation: number; coversTo: number } {
  return { generation: pointer?.generation ?? 0, coversTo: pointer?.coversTo ?? 0 }
}

function setting({ head }: ThreadState, key: string): number | undefined {
  const value: JsonObject[string] | undefined = head.settings.get(key)
  return typeof value === 'number' ? value : undefined
}
