import type { AgentEvent, FileEvent, ToolAnnotations } from './agent-event.ts'
import type { ChatToolCallInfo, ChatToolResultInfo } from './chat-message.ts'
import { toError } from './error-data.ts'
import type { FinishReason, UsageMetadata } from './usage.ts'

/** Where a tool comes from. */
export interface ChatToolOrigin {
  readonly annotations?: ToolAnnotations
  /** Set when the tool came from an MCP server. */
  readonly serverName?: string
}

export interface ChatStartEvent {
  readonly type: 'start'
}

export interface ChatTextDeltaEvent {
  readonly type: 'text-delta'
  readonly text: string
}

export interface ChatReasoningDeltaEvent {
  readonly type: 'reasoning-delta'
  readonly text: string
}

export interface ChatToolCallEvent extends Readonly<ChatToolCallInfo>, ChatToolOrigin {
  readonly type: 'tool-call'
}

/** The joined deltas of a call, parsed, give the `args` of its `tool-call`. */
export interface ChatToolCallDeltaEvent {
  readonly type: 'tool-call-delta'
  readonly toolCallId: string
  readonly toolName?: string
  readonly argsTextDelta: string
}

export interface ChatToolApprovalRequestEvent extends ChatToolOrigin {
  readonly type: 'tool-approval-request'
  readonly toolCall: ChatToolCallInfo
}

export interface ChatToolResultEvent extends Readonly<ChatToolResultInfo>, ChatToolOrigin {
  readonly type: 'tool-result'
}

/** The tool is still running. Which of the optional fields are set has no further meaning. */
export interface ChatToolProgressEvent {
  readonly type: 'tool-progress'
  readonly toolCallId: string
  readonly toolName: string
  readonly output?: string
  readonly parentToolCallId?: string
}

export interface ChatStepStartEvent {
  readonly type: 'step-start'
  readonly stepIndex: number
}

export interface ChatStepFinishEvent {
  readonly type: 'step-finish'
  readonly stepIndex: number
  readonly finishReason: FinishReason
  readonly usage?: UsageMetadata
}

export interface ChatErrorEvent {
  readonly type: 'error'
  readonly error: Error
  readonly code?: string
}

/** The last event of a turn, and the only one of its kind. */
export interface ChatFinishEvent {
  readonly type: 'finish'
  readonly finishReason: FinishReason
  readonly usage?: UsageMetadata
}

export type ChatEvent =
  | ChatStartEvent
  | ChatTextDeltaEvent
  | ChatReasoningDeltaEvent
  | ChatToolCallEvent
  | ChatToolCallDeltaEvent
  | ChatToolApprovalRequestEvent
  | ChatToolResultEvent
  | ChatToolProgressEvent
  | ChatStepStartEvent
  | ChatStepFinishEvent
  | ChatErrorEvent
  | ChatFinishEvent

export type ChatEventType = ChatEvent['type']

/**
 * Converts field by field, because fields that an agent event gains later must not appear in a chat by themselves.
 * Returns `undefined` for a file: chats have no event for it, and show it as a part of the message.
 */
export function toChatEvent(event: Exclude<AgentEvent, FileEvent>): ChatEvent
export function toChatEvent(event: AgentEvent): ChatEvent | undefined
export function toChatEvent(event: AgentEvent): ChatEvent | undefined {
  switch (event.type) {
    case 'start':
      return { type: 'start' }
    case 'text-delta':
    case 'reasoning-delta':
      return { type: event.type, text: event.text }
    case 'file':
      return undefined
    case 'tool-call':
      return {
        type: 'tool-call',
        toolCallId: event.toolCallId,
        toolName: event.toolName,
        args: event.args,
        ...originOf(event),
      }
    case 'tool-call-delta':
      return {
        type: 'tool-call-delta',
        toolCallId: event.toolCallId,
        ...(event.toolName === undefined ? {} : { toolName: event.toolName }),
        argsTextDelta: event.argsTextDelta,
      }
    case 'tool-approval-request': {
      const { toolCallId, toolName, args } = event.toolCall
      return { type: 'tool-approval-request', toolCall: { toolCallId, toolName, args }, ...originOf(event) }
    }
    case 'tool-result':
      return {
        type: 'tool-result',
        toolCallId: event.toolCallId,
        toolName: event.toolName,
        result: event.result,
        ...(event.isError === undefined ? {} : { isError: event.isError }),
        ...(event.error === undefined ? {} : { error: toError(event.error) }),
        ...originOf(event),
      }
    case 'tool-progress':
      return {
        type: 'tool-progress',
        toolCallId: event.toolCallId,
        toolName: event.toolName,
        ...(event.output === undefined ? {} : { output: event.output }),
        ...(event.parentToolCallId === undefined ? {} : { parentToolCallId: event.parentToolCallId }),
      }
    case 'step-start':
      return { type: 'step-start', stepIndex: event.stepIndex }
    case 'step-finish':
      return {
        type: 'step-finish',
        stepIndex: event.stepIndex,
        finishReason: event.finishReason,
        ...(event.usage === undefined ? {} : { usage: event.usage }),
      }
    case 'error': {
      const code = event.code ?? event.error.code
      return { type: 'error', error: toError(event.error), ...(code === undefined ? {} : { code }) }
    }
    case 'finish':
      return {
        type: 'finish',
        finishReason: event.finishReason,
        ...(event.usage === undefined ? {} : { usage: event.usage }),
      }
  }
}

function originOf(event: ChatToolOrigin): ChatToolOrigin {
  return {
    ...(event.annotations === undefined ? {} : { annotations: event.annotations }),
    ...(event.serverName === undefined ? {} : { serverName: event.serverName }),
  }
}
