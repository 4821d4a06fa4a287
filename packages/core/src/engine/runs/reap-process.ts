import type { ProcessNote } from '@evener/protocol'

/** Ends a program that a process of ours started and could not end, because it died itself. */
export async function reapProcess({ runTag, pid, startTime, bootId }: ProcessNote): Promise<void> {
  // Loaded when there is something to end: threads of our own loop never start a program this way.
  const { reap } = await import('@evener/shell/run')
  await reap({
    runId: runTag,
    pid,
    startTime: startTime === '' ? null : Number(startTime),
    bootId: bootId === '' ? null : bootId,
  })
}
