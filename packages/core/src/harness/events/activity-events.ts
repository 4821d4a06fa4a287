import type { HarnessActivityEvent } from '@inspan/protocol/harness'
import type { Head, RecordBody } from '@inspan/protocol/log'
import { recordedActivity } from '../../engine/index.ts'

const NONE: readonly HarnessActivityEvent[] = []

/** Returns an event for each thing that a record says the agent did. */
export function activityEvents(body: RecordBody, { run }: Head): readonly HarnessActivityEvent[] {
  const note = recordedActivity(body)
  if (note === undefined) return NONE
  const place = {
    ...('messageId' in body ? { messageId: body.messageId } : {}),
    ...('toolCallId' in body ? { toolCallId: body.toolCallId } : {}),
    ...(run === null ? {} : { agentId: run.agentId }),
  }
  return note.events.map((activity) => ({ type: 'activity', activity, ...place }))
}
