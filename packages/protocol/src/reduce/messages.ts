import type { MessageAddedRecord, MessageEndedRecord, MessageStartedRecord } from '../control-record.ts'
import { List } from '../list.ts'
import type { MessageFields, Part, ThreadMessage } from '../message.ts'
import { asJson } from '../op.ts'
import { findMessage, putMessage, setPartOp, storedMessage, type Draft } from './draft.ts'
import type { RecordContext } from './reduce.ts'

export function applyMessageAdded(draft: Draft, body: MessageAddedRecord, record: RecordContext): void {
  const message: ThreadMessage = {
    ...messageFields(body, record),
    at: body.createdAt ?? record.at,
    state: 'done',
    ...(body.meta === undefined ? {} : { meta: body.meta }),
    parts: List.from(body.parts),
  }
  addMessage(draft, message)
  draft.written.push(message)
}

export function applyMessageStarted(draft: Draft, body: MessageStartedRecord, record: RecordContext): void {
  addMessage(draft, {
    ...messageFields(body, record),
    state: 'open',
    ...(body.step === undefined ? {} : { step: body.step }),
    ...(body.parentToolCallId === undefined ? {} : { parentToolCallId: body.parentToolCallId }),
    parts: List.empty(),
  })
}

export function applyMessageEnded(draft: Draft, body: MessageEndedRecord): void {
  const at = findMessage(draft, body.messageId)
  const message = draft.messages.at(at)
  if (at < 0 || message === undefined) return
  closeMessage(draft, at, {
    ...message,
    state: body.outcome,
    ...(body.finishReason === undefined ? {} : { finishReason: body.finishReason }),
    ...(body.usage === undefined ? {} : { usage: body.usage }),
    ...(body.error === undefined ? {} : { error: body.error }),
    ...(body.native === undefined ? {} : { native: body.native }),
  })
}

/** Ends a message. Parts that are still open are marked as cut off. */
export function closeMessage(draft: Draft, at: number, message: ThreadMessage): void {
  let parts = message.parts
  for (let i = parts.length - 1; i >= 0; i--) {
    const part = parts.at(i) as Part
    if (part.state !== 'open') continue
    const cut: Part = { ...part, state: 'interrupted' }
    parts = parts.set(i, cut)
    setPartOp(draft, message.id, cut)
  }
  putMessage(draft, at, { ...message, parts })
  if (draft.isOnlyShown) return
  for (const key of ['state', 'finishReason', 'usage', 'error', 'native'] as const) {
    const value = message[key]
    if (value === undefined) continue
    const json = typeof value === 'string' ? value : asJson(value)
    draft.ops.push({ type: 'set', path: ['messages', message.id, key], value: json })
  }
}

/** Outside a run a message goes straight to the view. Otherwise the state would grow with every added context. */
function addMessage(draft: Draft, message: ThreadMessage): void {
  if (draft.head.run !== null) draft.messages = draft.messages.push(message)
  if (draft.isOnlyShown) return
  draft.ops.push({ type: 'set', path: ['messages', message.id], value: asJson(storedMessage(message)) })
}

function messageFields(
  body: MessageAddedRecord | MessageStartedRecord,
  record: RecordContext,
): Omit<MessageFields, 'state'> {
  return {
    id: body.messageId,
    role: body.role,
    order: record.seq,
    at: record.at,
    ...(record.run === undefined ? {} : { run: record.run }),
    ...(record.turn === undefined ? {} : { turn: record.turn }),
    ...(body.by === undefined ? {} : { by: body.by }),
    ...(body.native === undefined ? {} : { native: body.native }),
  }
}
