import type { HarnessEvent } from '@inspan/protocol/harness'
import type { ConfigChangedRecord, Head } from '@inspan/protocol/log'
import { approvalWaits, suspendedWaits } from './pending-waits.ts'

/**
 * True when a parked run waits for answers to tools' questions. While an approval is open or only subagents are at
 * work, the run counts as at work for listeners.
 */
export function isSuspended({ run, waits }: Head): boolean {
  return run?.status === 'parked' && suspendedWaits(waits).length > 0 && approvalWaits(waits).length === 0
}

/** Returns the event for a change of the queue, if the number of follow-ups changed. */
export function queueEvents(before: Head, { queue, run }: Head, origin: string | undefined): readonly HarnessEvent[] {
  if (queue === before.queue) return []
  const count = followUps(queue)
  // A message queued from outside belongs to no run; the one it waits for is meant.
  const runId = origin ?? run?.runId
  if (count === followUps(before.queue)) return []
  return [{ type: 'follow_up_queued', count, ...(runId === undefined ? {} : { runId }) }]
}

/** Returns the events for a change of config: the mode comes before the model it brings. */
export function configEvents(
  { mode, model }: ConfigChangedRecord,
  before: Head,
  { defaultModeId, scope }: { readonly defaultModeId: string; readonly scope: 'global' | 'thread' | 'mode' },
): readonly HarnessEvent[] {
  const events: HarnessEvent[] = []
  const previousModeId = before.mode ?? defaultModeId
  const modeId = (mode === undefined ? before.mode : mode) ?? defaultModeId
  if (mode !== undefined && modeId !== previousModeId) events.push({ type: 'mode_changed', modeId, previousModeId })
  if (model !== undefined && model !== before.model) {
    events.push({ type: 'model_changed', modelId: model ?? '', scope, modeId })
  }
  return events
}

function followUps(queue: Head['queue']): number {
  return [...queue].filter(({ lane }) => lane === 'follow-up').length
}
