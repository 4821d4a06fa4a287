import { toWire, type Wire } from './wire-form.ts'
import type { ContentEvent } from './harness-event/content.ts'
import type { ConversationEvent } from './harness-event/conversation.ts'
import type { MemoryEvent } from './harness-event/memory.ts'
import type { SubagentEvent } from './harness-event/subagent.ts'
import type { ToolEvent } from './harness-event/tool.ts'
import type { WorkspaceEvent } from './harness-event/workspace.ts'

/** Every event a harness sends to its listeners. */
export type HarnessEvent = ConversationEvent | ToolEvent | ContentEvent | WorkspaceEvent | MemoryEvent | SubagentEvent

export type HarnessEventType = HarnessEvent['type']

/** Where an event happened. Events about a thread other than the session's name that one. */
export interface EventPlace {
  readonly sessionId: string
  /** `null` while the session is bound to no thread. */
  readonly threadId: string | null
}

/** An event as listeners get it. */
export type PlacedEvent = HarnessEvent & EventPlace

export type HarnessEventListener = (event: PlacedEvent) => void | Promise<void>

/** A `HarnessEvent` as JSON. */
export type WireEvent = Wire<HarnessEvent>

export function toWireEvent(event: HarnessEvent): WireEvent {
  return toWire(event)
}

export const HARNESS_EVENT_TYPES = [
  'mode_changed',
  'model_changed',
  'thread_changed',
  'thread_created',
  'thread_deleted',
  'state_changed',
  'agent_start',
  'agent_end',
  'message_start',
  'message_update',
  'message_end',
  'tool_start',
  'tool_approval_required',
  'tool_suspended',
  'tool_update',
  'tool_end',
  'activity',
  'tool_input_start',
  'tool_input_delta',
  'tool_input_end',
  'usage_update',
  'error',
  'info',
  'system_reminder',
  'state_signal',
  'reactive_signal',
  'notification',
  'notification_summary',
  'follow_up_queued',
  'workspace_status_changed',
  'workspace_ready',
  'workspace_error',
  'om_status',
  'om_activation',
  'om_model_changed',
  'om_observation_start',
  'om_observation_end',
  'om_observation_failed',
  'om_reflection_start',
  'om_reflection_end',
  'om_reflection_failed',
  'om_buffering_start',
  'om_buffering_end',
  'om_buffering_failed',
  'om_thread_title_updated',
  'subagent_start',
  'subagent_text_delta',
  'subagent_tool_start',
  'subagent_tool_end',
  'subagent_end',
  'subagent_model_changed',
  'task_updated',
  'goal_evaluation',
  'shell_output',
  'display_state_changed',
  'text',
  'thinking',
  'tool_call',
  'tool_result',
  'image',
  'file',
] as const
