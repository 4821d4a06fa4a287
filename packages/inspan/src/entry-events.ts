import type { NoteEvent } from '@inspan/adapters/reading'
import { recordedActivity, type LogEntry } from '@inspan/core/engine'
import type { AgentEvent } from '@inspan/protocol'
import { agentEventsOf, isSealedPart, type LogRecord } from '@inspan/protocol/log'

/** What is shown of a run while it goes on: the agent's events, and activity that is no agent event. */
export type PrintedEvent = AgentEvent | NoteEvent

/** Returns the events of a live entry. A text comes as deltas; its activity follows with an empty last delta. */
export function eventsOfEntry(entry: LogEntry): readonly PrintedEvent[] {
  if (entry.kind === 'delta') return [withoutActivity(entry.event)]
  const { body } = entry.record
  if (isSealedPart(body) && (body.type === 'text-delta' || body.type === 'reasoning-delta')) {
    return body.activity === undefined ? [] : [{ ...body, text: '', meta: { ...body.meta, end: true } }]
  }
  return eventsOfRecord(entry.record)
}

/** Returns the events of a record of a stored log, with texts as a whole. */
export function eventsOfRecord(record: LogRecord): readonly PrintedEvent[] {
  const activity = record.body.type === 'note' ? recordedActivity(record.body) : undefined
  return activity === undefined ? agentEventsOf(record) : [{ type: 'note', activity }]
}

function withoutActivity<Event extends AgentEvent>(event: Event): Event {
  if (event.activity === undefined) return event
  const { activity: _activity, ...rest } = event
  return rest as Event
}
