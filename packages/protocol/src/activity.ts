import type { JsonValue } from './json.ts'

/** Fields every activity event has, inline with its own. */
export interface ActivityBase {
  /** ISO 8601: when the event was observed. */
  readonly timestamp: string
  /** The session id that the foreign program reports, if it reports one. */
  readonly sessionId?: string
}

export interface AgentActivity extends ActivityBase {
  readonly type: 'agent'
  readonly message: string
}

export interface CommandActivity extends ActivityBase {
  readonly type: 'command'
  readonly command: string
  readonly workingDirectory?: string
  readonly exitCode?: number
  readonly isSuccess?: boolean
}

export interface ReadActivity extends ActivityBase {
  readonly type: 'read'
  readonly path: string
  readonly startLine?: number
  readonly endLine?: number
  readonly isSuccess?: boolean
}

export interface WriteActivity extends ActivityBase {
  readonly type: 'write'
  readonly path: string
  readonly startLine?: number
  readonly endLine?: number
  readonly isSuccess?: boolean
}

export interface SearchActivity extends ActivityBase {
  readonly type: 'search'
  readonly query: string
  readonly path?: string
  readonly isSuccess?: boolean
}

export interface ListActivity extends ActivityBase {
  readonly type: 'list'
  readonly path?: string
  readonly isSuccess?: boolean
}

export interface SkillActivity extends ActivityBase {
  readonly type: 'skill'
  readonly path: string
  readonly skillName?: string
  readonly startLine?: number
  readonly endLine?: number
  readonly isSuccess?: boolean
}

export type OrchestrationAction = 'subagent_started' | 'subagent_completed' | 'subagent_failed'

export interface OrchestrationActivity extends ActivityBase {
  readonly type: 'orchestration'
  readonly action: OrchestrationAction
  readonly subagentId?: string
  readonly subagentName?: string
  readonly isSuccess?: boolean
}

export interface ErrorActivity extends ActivityBase {
  readonly type: 'error'
  readonly message: string
  readonly code?: string
}

export interface WarningActivity extends ActivityBase {
  readonly type: 'warning'
  readonly message: string
  readonly code?: string
}

export interface UnknownActivity extends ActivityBase {
  readonly type: 'unknown'
  /** The output that could not be classified: parsed JSON, or a string when it was not JSON. */
  readonly raw: JsonValue
}

/** What a coding agent did, whichever program it is. */
export type ActivityEvent =
  | AgentActivity
  | CommandActivity
  | ReadActivity
  | WriteActivity
  | SearchActivity
  | ListActivity
  | SkillActivity
  | OrchestrationActivity
  | ErrorActivity
  | WarningActivity
  | UnknownActivity

export type ActivityType = ActivityEvent['type']

/** Activity as a record stores it. `mapper` names the mapper that made it, to tell it apart from a later mapping. */
export interface ActivityNote {
  readonly mapper: string
  readonly version: number
  readonly events: readonly ActivityEvent[]
}
