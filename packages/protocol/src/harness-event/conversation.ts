import type { HarnessDisplayState } from '../display-state.ts'
import type { HarnessMessage, TokenUsage } from '../harness-message.ts'
import type { HarnessThread } from '../harness-thread.ts'
import type { JsonValue } from '../json.ts'
import type { TaskItem } from '../task.ts'

export interface ModeChangedEvent {
  readonly type: 'mode_changed'
  readonly modeId: string
  readonly previousModeId: string
}

export interface ModelChangedEvent {
  readonly type: 'model_changed'
  readonly modelId: string
  readonly scope?: 'global' | 'thread' | 'mode'
  readonly modeId?: string
}

export interface ThreadChangedEvent {
  readonly type: 'thread_changed'
  readonly threadId: string
  readonly previousThreadId: string | null
}

export interface ThreadCreatedEvent {
  readonly type: 'thread_created'
  readonly thread: HarnessThread
}

export interface ThreadDeletedEvent {
  readonly type: 'thread_deleted'
  readonly threadId: string
}

export interface StateChangedEvent {
  readonly type: 'state_changed'
  readonly state: Readonly<Record<string, unknown>>
  readonly changedKeys: readonly string[]
}

export interface AgentStartEvent {
  readonly type: 'agent_start'
}

/** `suspended`: the run waits for an answer and then goes on. */
export interface AgentEndEvent {
  readonly type: 'agent_end'
  readonly reason?: 'complete' | 'aborted' | 'error' | 'suspended'
  /** The answer as data, if the agent's `output` asked for it. */
  readonly output?: JsonValue
}

export interface MessageStartEvent {
  readonly type: 'message_start'
  readonly message: HarnessMessage
}

export interface MessageUpdateEvent {
  readonly type: 'message_update'
  readonly message: HarnessMessage
}

export interface MessageEndEvent {
  readonly type: 'message_end'
  readonly message: HarnessMessage
}

/** `usage` is that of the step, not the total. */
export interface UsageUpdateEvent {
  readonly type: 'usage_update'
  readonly usage: TokenUsage
}

export interface FollowUpQueuedEvent {
  readonly type: 'follow_up_queued'
  /** How many follow-ups are queued now. */
  readonly count: number
  readonly runId?: string
}

export interface TaskUpdatedEvent {
  readonly type: 'task_updated'
  readonly tasks: readonly TaskItem[]
}

/** The state of a goal after a run. An event with `pending` precedes each evaluation. */
export interface GoalEvaluation {
  readonly objective: string
  readonly iteration: number
  readonly maxRuns: number
  readonly passed: boolean
  readonly status: 'active' | 'paused' | 'done'
  /** The result of each judge. */
  readonly results: readonly unknown[]
  readonly reason?: string
  readonly pausedReason?: string
  readonly waitingForUser?: boolean
  readonly judgeFailed?: boolean
  /** Milliseconds. */
  readonly duration: number
  readonly timedOut: boolean
  readonly maxRunsReached: boolean
  readonly suppressFeedback: boolean
  readonly pending?: boolean
  readonly activity?: unknown
}

export interface GoalEvaluationEvent {
  readonly type: 'goal_evaluation'
  readonly payload: GoalEvaluation
}

export interface InfoEvent {
  readonly type: 'info'
  readonly message: string
  /** How a message reached the working agent: injected into its run, or by stopping the run and starting it again. */
  readonly steered?: 'injected' | 'restarted'
}

export interface HarnessErrorEvent {
  readonly type: 'error'
  readonly error: Error
  readonly errorType?: string
  readonly retryable?: boolean
  /** Milliseconds. */
  readonly retryDelay?: number
}

export interface DisplayStateChangedEvent {
  readonly type: 'display_state_changed'
  readonly displayState: HarnessDisplayState
}

export type ConversationEvent =
  | ModeChangedEvent
  | ModelChangedEvent
  | ThreadChangedEvent
  | ThreadCreatedEvent
  | ThreadDeletedEvent
  | StateChangedEvent
  | AgentStartEvent
  | AgentEndEvent
  | MessageStartEvent
  | MessageUpdateEvent
  | MessageEndEvent
  | UsageUpdateEvent
  | FollowUpQueuedEvent
  | TaskUpdatedEvent
  | GoalEvaluationEvent
  | InfoEvent
  | HarnessErrorEvent
  | DisplayStateChangedEvent
