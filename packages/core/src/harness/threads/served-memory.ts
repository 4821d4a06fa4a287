import { defined } from '@inspan/protocol/internal'
import type { HarnessCore } from '../harness-core.ts'
import { MEMORY_SETTINGS, thresholdOf, type MemoryRoleName, type ObservingMemory } from '../observational-memory.ts'

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

export async function servedMemory(
  core: HarnessCore,
  threadId: string,
  resourceId: string,
): Promise<ServedMemory | null> {
  const { memory, omConfig } = core.config
  if (memory === undefined || typeof memory === 'function') return null
  const { om, settings } = (await core.threads.registry.read(threadId)).head
  const record = await (memory as ObservingMemory).getObservationalMemoryRecord?.({ threadId, resourceId })
  const threshold = (role: MemoryRoleName): number =>
    thresholdOf(role, (key) => settings.get(key), omConfig) ?? MEMORY_SETTINGS[role].defaultThreshold
  return {
    generation: om?.generation ?? 0,
    coversTo: om?.coversTo ?? 0,
    threshold: threshold('observer'),
    reflectionThreshold: threshold('reflector'),
    ...defined({
      pendingTokens: record?.pendingMessageTokens,
      observationTokens: record?.observationTokenCount,
      observations: record?.activeObservations,
    }),
  }
}
