/** Which subagent an event is about. Two subagents may make calls with the same id, so both fields tell them apart. */
interface SubagentRef {
  /** The parent's call that started the subagent. */
  readonly toolCallId: string
  /** If a subagent started it: the calls that lead to that one, the outermost first, joined by `/`. */
  readonly parentToolCallId?: string
  readonly agentType: string
}

export interface SubagentStartEvent extends SubagentRef {
  readonly type: 'subagent_start'
  readonly task: string
  readonly modelId: string
  readonly forked?: boolean
  /** The run that started it does not wait for it and may end before it. */
  readonly background?: true
}

export interface SubagentTextDeltaEvent extends SubagentRef {
  readonly type: 'subagent_text_delta'
  readonly textDelta: string
}

export interface SubagentToolStartEvent extends SubagentRef {
  readonly type: 'subagent_tool_start'
  readonly subToolName: string
  readonly subToolArgs: unknown
}

export interface SubagentToolEndEvent extends SubagentRef {
  readonly type: 'subagent_tool_end'
  readonly subToolName: string
  readonly subToolResult: unknown
  readonly isError: boolean
}

export interface SubagentEndEvent extends SubagentRef {
  readonly type: 'subagent_end'
  readonly result: string
  readonly isError: boolean
  readonly durationMs: number
}

export interface SubagentModelChangedEvent {
  readonly type: 'subagent_model_changed'
  readonly modelId: string
  readonly scope: 'global' | 'thread'
  readonly agentType?: string
}

export type SubagentEvent =
  | SubagentStartEvent
  | SubagentTextDeltaEvent
  | SubagentToolStartEvent
  | SubagentToolEndEvent
  | SubagentEndEvent
  | SubagentModelChangedEvent
