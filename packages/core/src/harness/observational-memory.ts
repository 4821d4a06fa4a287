import { defaultOMProgressState, type HarnessEvent } from '@inspan/protocol/harness'
import type { HarnessOMConfig } from './harness-config.ts'
import type { Session } from './session.ts'

/** What observational memory knows of a thread. */
export interface ObservationalMemoryRecord {
  readonly id: string
  /** Whose it is. Ours belongs to a thread; other memories may have one for everything of a resource. */
  readonly scope?: 'thread' | 'resource'
  readonly threadId: string | null
  readonly resourceId: string
  readonly activeObservations: string
  readonly generationCount: number
  readonly observationTokenCount: number
  readonly pendingMessageTokens: number
  readonly currentTask?: string
  readonly suggestedResponse?: string
}

/** What the harness calls on a memory that offers it. */
export interface ObservingMemory {
  getObservationalMemoryRecord?(query: {
    readonly threadId: string
    readonly resourceId: string
  }): Promise<ObservationalMemoryRecord | null>
}

export type MemoryRoleName = 'observer' | 'reflector'

interface RoleSettings {
  /** The settings of a thread. */
  readonly model: string
  readonly threshold: string
  /** The options of the harness for threads without a setting. */
  readonly modelOption: 'defaultObserverModelId' | 'defaultReflectorModelId'
  readonly thresholdOption: 'defaultObservationThreshold' | 'defaultReflectionThreshold'
  readonly defaultThreshold: number
}

/** Where the model of a role is set, and the number of tokens from which on it works. */
export const MEMORY_SETTINGS: Readonly<Record<MemoryRoleName, RoleSettings>> = {
  observer: {
    model: 'observerModelId',
    threshold: 'observationThreshold',
    modelOption: 'defaultObserverModelId',
    thresholdOption: 'defaultObservationThreshold',
    defaultThreshold: 30_000,
  },
  reflector: {
    model: 'reflectorModelId',
    threshold: 'reflectionThreshold',
    modelOption: 'defaultReflectorModelId',
    thresholdOption: 'defaultReflectionThreshold',
    defaultThreshold: 40_000,
  },
}

/** Returns the threshold of the thread, else that of the harness. */
export function thresholdOf(
  role: MemoryRoleName,
  setting: (key: string) => unknown,
  omConfig: HarnessOMConfig = {},
): number | undefined {
  const { threshold, thresholdOption } = MEMORY_SETTINGS[role]
  const own = setting(threshold)
  return typeof own === 'number' ? own : omConfig[thresholdOption]
}

export async function memoryRecord(
  memory: ObservingMemory | null,
  session: Pick<Session, 'identity' | 'thread'>,
): Promise<ObservationalMemoryRecord | null> {
  const threadId = session.thread.getId()
  if (threadId === null) return null
  const resourceId = session.identity.getResourceId()
  return (await memory?.getObservationalMemoryRecord?.({ threadId, resourceId })) ?? null
}

export function memoryStatus(record: ObservationalMemoryRecord, session: Pick<Session, 'om' | 'thread'>): HarnessEvent {
  const { observer, reflector } = session.om
  return {
    type: 'om_status',
    windows: {
      active: {
        messages: { tokens: record.pendingMessageTokens, threshold: observer.threshold() },
        observations: { tokens: record.observationTokenCount, threshold: reflector.threshold() },
      },
      buffered: defaultOMProgressState().buffered,
    },
    recordId: record.id,
    threadId: session.thread.requireId(),
    stepNumber: 0,
    generationCount: record.generationCount,
  }
}
