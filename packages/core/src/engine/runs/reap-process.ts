import type { ProcessNote } from '@inspan/protocol/log'

/** Ends a program that an Inspan process started and left running when it died. */
export async function reapProcess({ runTag, pid, startTime, bootId }: ProcessNote): Promise<void> {
  // Loaded only when needed: threads of our own loop never start a program this way.
  const { reap } = await import('@inspan/shell/run')
  await reap({
    runId: runTag,
    pid,
    startTime: startTime === '' ? null : Number(startTime),
    bootId: bootId === '' ? null : bootId,
  })
}
