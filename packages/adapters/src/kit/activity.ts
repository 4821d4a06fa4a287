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

type Stampable = ActivityDraft & { timestamp?: string; sessionId?: string }

/**
 * Puts time and session on activity, which is given away with that: a draft is made for one event. Consecutive events mostly
 * have the same time, so its text is kept.
 */
export class Stamper {
  readonly #mapper: string
  readonly #version: number
  #at: number | undefined
  #timestamp = ''

  constructor(mapper: string, version: number) {
    this.#mapper = mapper
    this.#version = version
  }

  note(drafts: readonly ActivityDraft[], at: number, sessionId: string | undefined): ActivityNote {
    if (at !== this.#at) {
      this.#at = at
      // Times beyond what a date can be do not stop a run.
      this.#timestamp = new Date(Math.abs(at) <= 8.64e15 ? at : 0).toISOString()
    }
    for (let each = 0; each < drafts.length; each += 1) stamp(drafts[each], this.#timestamp, sessionId)
    return { mapper: this.#mapper, version: this.#version, events: drafts as readonly ActivityEvent[] }
  }
}

function stamp(draft: Stampable | undefined, timestamp: string, sessionId: string | undefined): void {
  if (draft === undefined) return
  draft.timestamp = timestamp
  if (sessionId !== undefined) draft.sessionId = sessionId
}
