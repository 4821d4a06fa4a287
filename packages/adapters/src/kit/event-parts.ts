import type {
  ActivityNote,
  EventMeta,
  NativeRef,
  ReasoningDeltaEvent,
  TextDeltaEvent,
  ToolCallEvent,
  ToolResultEvent,
} from '@inspan/protocol'
import type { ActivityDraft } from './activity.ts'
import type { OpenCall } from './calls.ts'
import { cleanText } from './clean-text.ts'
import type { CallAnswer, TextPlace } from './mapper.ts'
import type { OpenText } from './texts.ts'
import type { ReportedOutcome } from './tool-table.ts'

/** An event that is still being built. */
export type Mutable<Type> = { -readonly [Key in keyof Type]: Type[Key] }

/** Marks a text as complete. */
export const ENDED: EventMeta = Object.freeze({ end: true })
/** Marks a text as cut off. */
export const INTERRUPTED: EventMeta = Object.freeze({ end: true, interrupted: true })

export function isBlank(text: string): boolean {
  // Nearly every text begins with a letter: checking one character is cheaper than trimming the text.
  return text.charCodeAt(0) <= 0x20 || text === '' || text.charCodeAt(0) > 0x7f ? text.trim() === '' : false
}

export function callEvent(call: OpenCall): ToolCallEvent {
  const { callId, name, input, parent, native, serverName, invalidInput } = call
  if (parent === undefined && native !== undefined && serverName === undefined && invalidInput === undefined) {
    return { type: 'tool-call', toolCallId: callId, toolName: name, args: input, native }
  }
  const event: Mutable<ToolCallEvent> = { type: 'tool-call', toolCallId: callId, toolName: name, args: input }
  if (parent !== undefined) event.parentToolCallId = parent
  if (native !== undefined) event.native = native
  if (serverName !== undefined) event.serverName = serverName
  if (invalidInput !== undefined) event.meta = { invalidInput }
  return event
}

/** `isSynthetic`: the CLI did not report this result. */
export function resultEvent(
  call: OpenCall,
  outcome: ReportedOutcome,
  native: NativeRef | undefined,
  isSynthetic: boolean,
  activity: ActivityNote | undefined,
): ToolResultEvent {
  const { callId, name, parent, serverName } = call
  const result = outcome.result ?? null
  const isUsual = parent === undefined && serverName === undefined && native !== undefined && !isSynthetic
  if (isUsual && activity !== undefined && outcome.isSuccess !== false) {
    return { type: 'tool-result', toolCallId: callId, toolName: name, result, native, activity }
  }
  const event: Mutable<ToolResultEvent> = { type: 'tool-result', toolCallId: callId, toolName: name, result }
  if (outcome.isSuccess === false) event.isError = true
  if (parent !== undefined) event.parentToolCallId = parent
  if (serverName !== undefined) event.serverName = serverName
  if (native !== undefined) event.native = native
  if (isSynthetic) event.meta = { synthetic: true }
  if (activity !== undefined) event.activity = activity
  return event
}

/** Returns the event for a result whose call was never seen. */
export function orphanEvent(toolCallId: string, { outcome, parent, native }: CallAnswer): Mutable<ToolResultEvent> {
  const event: Mutable<ToolResultEvent> = {
    type: 'tool-result',
    toolCallId,
    toolName: '',
    result: outcome.result ?? null,
  }
  if (outcome.isSuccess === false) event.isError = true
  if (typeof parent === 'string') event.parentToolCallId = parent
  if (native !== undefined) event.native = native
  return event
}

export function endOfText(open: OpenText): Mutable<TextDeltaEvent | ReasoningDeltaEvent> {
  const event: Mutable<TextDeltaEvent | ReasoningDeltaEvent> = {
    type: open.isReasoning ? 'reasoning-delta' : 'text-delta',
    text: '',
    partId: open.key,
    meta: INTERRUPTED,
  }
  if (open.parent !== undefined) event.parentToolCallId = open.parent
  return event
}

export function setPlace(event: Mutable<TextDeltaEvent | ReasoningDeltaEvent>, place: TextPlace): void {
  if (place.partId !== undefined) event.partId = place.partId
  if (place.messageId !== undefined) event.messageId = place.messageId
  if (place.parent !== undefined) event.parentToolCallId = place.parent
  if (place.native !== undefined) event.native = place.native
}

export function errorDraft(message: string, code: string | undefined): ActivityDraft {
  const text = cleanText(message)
  return code === undefined ? { type: 'error', message: text } : { type: 'error', message: text, code }
}
