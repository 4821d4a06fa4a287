import type { NoteEvent } from '@evener/adapters/reading'
import type { LogEntry } from '@evener/core/engine'
import { agentEventsOf, isSealedPart, type ActivityNote, type AgentEvent, type LogRecord } from '@evener/protocol'

/** What is told of a run while it goes on: what an agent says and does, and activity that is no chat event. */
export type ToldEvent = AgentEvent | NoteEvent

/** Texts are told delta by delta; when one is whole, an empty last delta has the activity that it was. */
export function eventsOfEntry(entry: LogEntry): readonly ToldEvent[] {
  if (entry.kind === 'delta') return [withoutActivity(entry.event)]
  const { body } = entry.record
  if (isSealedPart(body) && (body.type === 'text-delta' || body.type === 'reasoning-delta')) {
    return body.activity === undefined ? [] : [{ ...body, text: '', meta: { ...body.meta, end: true } }]
  }
  return eventsOfRecord(entry.record)
}

/** The same from a log that is read later: texts are whole. */
export function eventsOfRecord(record: LogRecord): readonly ToldEvent[] {
  const activity = notedActivity(record)
  return activity === undefined ? agentEventsOf(record) : [{ type: 'note', activity }]
}

function withoutActivity<Event extends AgentEvent>(event: Event): Event {
  if (event.activity === undefined) return event
  const { activity: _activity, ...rest } = event
  return rest as Event
}

/** Warnings and other activity are notes in the log, written by the engine in this form. */
function notedActivity({ body }: LogRecord): ActivityNote | undefined {
  if (body.type !== 'note') return undefined
  const activity = body.data?.['activity']
  return activity === undefined ? undefined : (activity as unknown as ActivityNote)
}
