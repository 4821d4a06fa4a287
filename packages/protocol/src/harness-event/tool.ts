import type { ActivityEvent } from '../activity.ts'

/** A subagent that asks something. */
export interface AskingSubagent {
  readonly agentType: string
  /** What it was told to do. */
  readonly task: string
  /** The hidden thread it works in. */
  readonly threadId: string
}

/** The call is known, but its effect has not begun: it may still need an approval. */
export interface ToolStartEvent {
  readonly type: 'tool_start'
  readonly toolCallId: string
  readonly toolName: string
  readonly args: unknown
}

export interface ToolApprovalRequiredEvent {
  readonly type: 'tool_approval_required'
  readonly toolCallId: string
  readonly toolName: string
  readonly args: unknown
  /** One line for a person: what the approval is for, and why. */
  readonly description: string
  /** Set when a subagent asks. The approval is answered in this thread like any other. */
  readonly subagent?: AskingSubagent
}

/** The tool asks a person something and continues with the answer. */
export interface ToolSuspendedEvent {
  readonly type: 'tool_suspended'
  readonly toolCallId: string
  readonly toolName: string
  readonly args: unknown
  readonly suspendPayload: unknown
  /** JSON Schema of the answer, as text. */
  readonly resumeSchema?: string
}

export interface ToolUpdateEvent {
  readonly type: 'tool_update'
  readonly toolCallId: string
  readonly partialResult: unknown
}

export interface ToolEndEvent {
  readonly type: 'tool_end'
  readonly toolCallId: string
  readonly toolName: string
  readonly result: unknown
  readonly isError: boolean
  readonly providerMetadata?: unknown
  /** What the call did, in the words that all agents share. Each entry is also an `activity` event. */
  readonly activity?: readonly ActivityEvent[]
}

/** Something an agent did, in the words that all agents share. Follows the event it belongs to. */
export interface HarnessActivityEvent {
  readonly type: 'activity'
  readonly activity: ActivityEvent
  readonly messageId?: string
  readonly toolCallId?: string
  readonly agentId?: string
}

export interface ToolInputStartEvent {
  readonly type: 'tool_input_start'
  readonly toolCallId: string
  readonly toolName: string
}

export interface ToolInputDeltaEvent {
  readonly type: 'tool_input_delta'
  readonly toolCallId: string
  readonly argsTextDelta: string
  readonly toolName?: string
}

export interface ToolInputEndEvent {
  readonly type: 'tool_input_end'
  readonly toolCallId: string
}

export interface ShellOutputEvent {
  readonly type: 'shell_output'
  readonly toolCallId: string
  readonly output: string
  readonly stream: 'stdout' | 'stderr'
}

export type ToolEvent =
  | ToolStartEvent
  | ToolApprovalRequiredEvent
  | ToolSuspendedEvent
  | ToolUpdateEvent
  | ToolEndEvent
  | HarnessActivityEvent
  | ToolInputStartEvent
  | ToolInputDeltaEvent
  | ToolInputEndEvent
  | ShellOutputEvent
