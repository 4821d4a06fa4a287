import { defaultOMProgressState, type HarnessEvent } from '@inspan/protocol/harness'
import type { Session } from './session.ts'

/** What observational memory knows of a thread. */
export interface ObservationalMemoryRecord {
  readonly id: string
  readonly threadId: string | null
  readonly resourceId: string
  readonly activeObservations: string
  readonly generationCount: number
  readonly observationTokenCount: number
  readonly pendingMessageTokens: number
}

/** What the harness calls on a memory that offers it. */
interface ObservingMemory {
  getObservationalMemoryRecord?(query: {
    readonly threadId: string
    readonly resourceId: string
  }): Promise<ObservationalMemoryRecord | null>
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
