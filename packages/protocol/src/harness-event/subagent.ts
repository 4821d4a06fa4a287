/** In all subagent events `toolCallId` is the parent's call that started the subagent. */
export interface SubagentStartEvent {
  readonly type: 'subagent_start'
  readonly toolCallId: string
  readonly agentType: string
  readonly task: string
  readonly modelId: string
  readonly forked?: boolean
  /** The run that started it does not wait for it and may end before it. */
  readonly background?: true
}

export interface SubagentTextDeltaEvent {
  readonly type: 'subagent_text_delta'
  readonly toolCallId: string
  readonly agentType: string
  readonly textDelta: string
}

export interface SubagentToolStartEvent {
  readonly type: 'subagent_tool_start'
  readonly toolCallId: string
  readonly agentType: string
  readonly subToolName: string
  readonly subToolArgs: unknown
}

export interface SubagentToolEndEvent {
  readonly type: 'subagent_tool_end'
  readonly toolCallId: string
  readonly agentType: string
  readonly subToolName: string
  readonly subToolResult: unknown
  readonly isError: boolean
}

export interface SubagentEndEvent {
  readonly type: 'subagent_end'
  readonly toolCallId: string
  readonly agentType: string
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
