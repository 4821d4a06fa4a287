import type { ActivityEvent, AgentEvent, EventExtras, ActivityNote } from '@evener/protocol'

type WithoutStamp<Event> = Event extends ActivityEvent ? Omit<Event, 'timestamp' | 'sessionId'> : never

/** An activity event before it is stamped with time and session. */
export type ActivityDraft = WithoutStamp<ActivityEvent>

/**
 * Activity that no chat event stands for: warnings, output nobody understands, subagents coming and going, errors that end
 * nothing.
 */
export interface NoteEvent extends EventExtras {
  readonly type: 'note'
  readonly activity: ActivityNote
}

/** What a mapping makes of a program's output. */
export type MappedEvent = AgentEvent | NoteEvent

const NOTHING: readonly ActivityEvent[] = Object.freeze([])

/** The activity an event carries, in order. */
export function activityOf(event: MappedEvent): readonly ActivityEvent[] {
  return event.activity === undefined ? NOTHING : event.activity.events
}

export function stamp(draft: ActivityDraft, timestamp: string, sessionId: string | undefined): ActivityEvent {
  return sessionId === undefined ? { ...draft, timestamp } : { ...draft, timestamp, sessionId }
}
