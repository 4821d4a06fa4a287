import type { ConfigChangedRecord, HarnessEvent, Head } from '@evener/protocol'
import { suspendedWaits } from './pending-waits.ts'

/** Only questions of tools are left to wait for. An approval alone leaves the run at work, for those who look on. */
export function isSuspended({ run, waits }: Head): boolean {
  const all = waits.size
  return run?.status === 'parked' && all > 0 && suspendedWaits(waits).length === all
}

/** What a change of the queue says, if it is about follow-ups. */
export function queueEvents(before: Head, { queue, run }: Head, origin: string | undefined): readonly HarnessEvent[] {
  if (queue === before.queue) return []
  const count = followUps(queue)
  // Queued from outside, it belongs to no run; the one it waits for is the one meant.
  const runId = origin ?? run?.runId
  if (count === followUps(before.queue)) return []
  return [{ type: 'follow_up_queued', count, ...(runId === undefined ? {} : { runId }) }]
}

/** A change of mode comes before the change of model it brings. */
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
