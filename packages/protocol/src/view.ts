import { emptyHead, type Head } from './head.ts'
import { IdList } from './id-list.ts'
import { applyToJson, badOp, isObject } from './json-op.ts'
import type { JsonValue } from './json.ts'
import { List } from './list.ts'
import type { Part, StoredMessage, ThreadMessage } from './message.ts'
import { applyToHead } from './view-head.ts'
import { asJson, assertSafePath, type AppendTextOp, type DeltaFrame, type Op } from './op.ts'
import { reviveHead, type StoredHead } from './stored-head.ts'
import { partIndex, putPart } from './reduce/part-list.ts'

/** A client's replica of a thread: its head and a window of messages, oldest first. */
export interface ThreadView {
  readonly seq: number
  readonly head: Head
  readonly messages: IdList<ThreadMessage>
  /** True after a rewind to a later point: messages came back that only the server has. */
  readonly needsWindow: boolean
}

export interface ViewSnapshot {
  readonly seq: number
  readonly head: StoredHead
  readonly messages: readonly StoredMessage[]
}

export function emptyView(stream: string): ThreadView {
  return { seq: 0, head: emptyHead(stream), messages: IdList.empty(), needsWindow: false }
}

export function viewFrom(snapshot: ViewSnapshot): ThreadView {
  return {
    seq: snapshot.seq,
    head: reviveHead(snapshot.head),
    messages: IdList.from(snapshot.messages.map(reviveMessage)),
    needsWindow: false,
  }
}

export function reviveMessage(message: StoredMessage): ThreadMessage {
  return { ...message, parts: List.from(message.parts) }
}

/** Applies a frame. A frame that the view already holds is skipped, so resending does no harm. */
export function applyFrame(view: ThreadView, frame: DeltaFrame): ThreadView {
  return frame.seq <= view.seq ? view : applyOps(view, frame.operations, frame.seq)
}

/** A view while ops are applied to it. Copied once per frame, because nearly every frame is a single short op. */
type DraftView = { -readonly [Field in keyof ThreadView]: ThreadView[Field] }

/** Applies ops and returns the new view; the given view is not changed. */
export function applyOps(view: ThreadView, ops: readonly Op[], seq: number = view.seq): ThreadView {
  const { head, messages, needsWindow } = view
  const draft: DraftView = { seq, head, messages, needsWindow }
  for (const op of ops) {
    if (op.type === 'append-text' && op.path.length === 0) {
      draft.messages = appendToEnd(draft.messages, op)
      continue
    }
    assertSafePath(op.path)
    if (op.path[0] === 'messages') applyToMessages(draft, op)
    else if (op.path[0] === 'head') draft.head = applyToHead(draft.head, op)
    // Other paths come from a newer server and concern state that this client does not know.
  }
  const isSame =
    seq === view.seq && draft.head === head && draft.messages === messages && draft.needsWindow === needsWindow
  return isSame ? view : draft
}

type ViewMessages = IdList<ThreadMessage>

/** Appends to the last part's text in the newest message: the same place in every replica of a thread. */
function appendToEnd(messages: ViewMessages, op: AppendTextOp): ViewMessages {
  const newest = messages.at(-1)
  if (newest === undefined) return messages
  return messages.set(messages.length - 1, appendToPart(newest, newest.parts.length - 1, 'text', op))
}

/** Shortens the path of a single append to the end of the newest text: it would be longer than what is appended. */
export function shortOps(ops: readonly Op[], { messages }: Pick<ThreadView, 'messages'>): readonly Op[] {
  const [op] = ops
  const newest = messages.at(-1)
  if (ops.length !== 1 || op?.type !== 'append-text' || newest === undefined) return ops
  const { path } = op
  const isEnd =
    path.length === 5 &&
    path[0] === 'messages' &&
    path[1] === newest.id &&
    path[2] === 'parts' &&
    path[3] === String(newest.parts.length - 1) &&
    path[4] === 'text'
  return isEnd ? [{ ...op, path: [] }] : ops
}

function applyToMessages(draft: DraftView, op: Op): void {
  const { messages } = draft
  const [, messageId, field, partId] = op.path
  if (messageId === undefined) {
    removeMessages(draft, op)
    return
  }
  if (field === undefined) {
    draft.messages = placeMessage(messages, messageId, op)
    return
  }
  const at = messages.indexOf(messageId)
  const message = messages.at(at)
  // The message is outside this client's window: the op is for clients that show it.
  if (at < 0 || message === undefined) return
  const changed =
    field === 'parts' && partId !== undefined ? applyToPart(message, partId, op) : applyToField(message, field, op)
  if (changed !== message) draft.messages = messages.set(at, changed)
}

function removeMessages(draft: DraftView, op: Op): void {
  if (op.type !== 'remove') throw badOp(op, 'messages are set one by one, by id')
  const { from, to } = op
  if (from === undefined && to === undefined) {
    draft.messages = IdList.empty()
    draft.needsWindow = true
    return
  }
  const isGone = (order: number): boolean => order >= (from ?? 0) && order <= (to ?? Infinity)
  draft.messages = draft.messages.filter((message) => !isGone(message.order))
}

function placeMessage(messages: ViewMessages, id: string, op: Op): ViewMessages {
  if (op.type === 'append-text') throw badOp(op, 'a message is not a text')
  if (op.type === 'remove') {
    return messages.indexOf(id) >= 0 ? messages.filter((message) => message.id !== id) : messages
  }
  if (!isMessage(op.value)) throw badOp(op, 'the value is no message')
  const message = reviveMessage(op.value as unknown as StoredMessage)
  let at = placeOf(messages, message.order)
  // The order of a message never changes, so a known message can only be at this place.
  while (messages.at(at)?.order === message.order && messages.at(at)?.id !== id) at++
  return messages.at(at)?.id === id ? messages.set(at, message) : messages.insert(at, message)
}

/** Returns the index at which a message of this order is or belongs. A new one is nearly always the last. */
function placeOf(messages: IdList<ThreadMessage>, order: number): number {
  let low = 0
  let high = messages.length
  if ((messages.at(-1)?.order ?? -1) < order) return high
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((messages.at(middle)?.order ?? Infinity) < order) low = middle + 1
    else high = middle
  }
  return low
}

function applyToField(message: ThreadMessage, field: string, op: Op): ThreadMessage {
  if (op.path.length !== 3) throw badOp(op, 'no such place in a message')
  if (op.type === 'append-text') throw badOp(op, `"${field}" is not a text`)
  if (op.type === 'set') return { ...message, [field]: op.value }
  const { [field as keyof ThreadMessage]: _removed, ...kept } = message
  return kept as ThreadMessage
}

function applyToPart(message: ThreadMessage, partId: string, op: Op): ThreadMessage {
  const index = partIndex(partId, message.parts.length)
  if (index < 0) throw badOp(op, `"${partId}" is no part id`)
  const field = op.path[4]
  if (field === undefined) {
    if (op.type !== 'set') throw badOp(op, 'parts are only set')
    if (!isObject(op.value)) throw badOp(op, 'the value is no part')
    return { ...message, parts: putPart(message.parts, index, op.value as unknown as Part) }
  }
  if (op.type === 'append-text' && op.path.length === 5) return appendToPart(message, index, field, op)
  const part = message.parts.at(index)
  if (part === undefined) throw badOp(op, 'the part is not there')
  const changed: JsonValue = applyToJson(asJson(part), op, 4)
  return { ...message, parts: message.parts.set(index, changed as unknown as Part) }
}

function appendToPart(message: ThreadMessage, index: number, field: string, op: AppendTextOp): ThreadMessage {
  const part = message.parts.at(index)
  if (part === undefined) throw badOp(op, 'the part is not there')
  const text: unknown = Object.hasOwn(part, field) ? part[field as keyof Part] : undefined
  if (typeof text !== 'string') throw badOp(op, `"${field}" is not a text`)
  if (op.len !== undefined && op.len !== text.length) throw badOp(op, 'the text has another length')
  return { ...message, parts: message.parts.set(index, { ...part, [field]: text + op.value }) }
}

/** Checks just enough to keep a broken server from breaking the replica, not whether the content makes sense. */
function isMessage(value: JsonValue): boolean {
  return (
    isObject(value) &&
    typeof value['id'] === 'string' &&
    typeof value['order'] === 'number' &&
    Array.isArray(value['parts'])
  )
}
