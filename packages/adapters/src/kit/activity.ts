import type { ActivityEvent, AgentEvent, EventExtras, ActivityNote } from '@inspan/protocol'

type WithoutStamp<Event> = Event extends ActivityEvent ? Omit<Event, 'timestamp' | 'sessionId'> : never

/** An activity event before it is stamped with time and session. */
export type ActivityDraft = WithoutStamp<ActivityEvent>

/**
 * Activity without a chat event: warnings, output that is not understood, subagents that start and end, errors that do
 * not end the turn.
 */
export interface NoteEvent extends EventExtras {
  readonly type: 'note'
  readonly activity: ActivityNote
}

/** An event that a mapper makes of a CLI's output. */
export type MappedEvent = AgentEvent | NoteEvent

const NOTHING: readonly ActivityEvent[] = Object.freeze([])

/** Returns the activity of an event, in order. */
export function activityOf(event: MappedEvent): readonly ActivityEvent[] {
  return event.activity === undefined ? NOTHING : event.activity.events
}

const LAST_TIME = 8.64e15
/** The end of a timestamp that is cut off and replaced. */
const MILLISECONDS = '000Z'

type Stampable = ActivityDraft & { timestamp?: string; sessionId?: string }

/**
 * Adds time and session to activity drafts, in place: each draft is made for one event. Caches the text of the time,
 * because consecutive events mostly share it.
 */
export class Stamper {
  readonly #mapper: string
  readonly #version: number
  #at: number | undefined
  #timestamp = ''
  /** The second of the last time, and its text up to the milliseconds. */
  #second = Number.NaN
  #upToSecond = ''

  constructor(mapper: string, version: number) {
    this.#mapper = mapper
    this.#version = version
  }

  note(drafts: readonly ActivityDraft[], at: number, sessionId: string | undefined): ActivityNote {
    if (at !== this.#at) {
      this.#at = at
      this.#timestamp = this.#textOf(at)
    }
    for (let each = 0; each < drafts.length; each += 1) stamp(drafts[each], this.#timestamp, sessionId)
    return { mapper: this.#mapper, version: this.#version, events: drafts as readonly ActivityEvent[] }
  }

  /**
   * Reuses the text up to the second. Pieces come many times a second, and formatting a date costs more than a line.
   */
  #textOf(at: number): string {
    const milliseconds = at % 1000
    if (!Number.isInteger(at) || milliseconds < 0 || at > LAST_TIME) return timeText(at)
    const second = at - milliseconds
    if (second !== this.#second) {
      const text = timeText(at)
      this.#second = second
      this.#upToSecond = text.slice(0, -MILLISECONDS.length)
      return text
    }
    return `${this.#upToSecond}${String(milliseconds).padStart(3, '0')}Z`
  }
}

function timeText(at: number): string {
  // A time that is out of range must not stop a run.
  return new Date(Math.abs(at) <= LAST_TIME ? at : 0).toISOString()
}

/** Sets the same fields in each case. Written out per kind, because code that sees few object shapes is much faster. */
function stamp(draft: Stampable | undefined, timestamp: string, sessionId: string | undefined): void {
  if (draft === undefined) return
  switch (draft.type) {
    case 'agent':
      draft.timestamp = timestamp
      if (sessionId !== undefined) draft.sessionId = sessionId
      return
    case 'command':
      draft.timestamp = timestamp
      if (sessionId !== undefined) draft.sessionId = sessionId
      return
    case 'read':
      draft.timestamp = timestamp
      if (sessionId !== undefined) draft.sessionId = sessionId
      return
    case 'search':
      draft.timestamp = timestamp
      if (sessionId !== undefined) draft.sessionId = sessionId
      return
    default:
      draft.timestamp = timestamp
      if (sessionId !== undefined) draft.sessionId = sessionId
  }
}
