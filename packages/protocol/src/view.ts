import { emptyHead, type Head } from './head.ts'
import { IdList } from './id-list.ts'
import { applyToJson, badOp, isObject } from './json-op.ts'
import type { JsonValue } from './json.ts'
import { List } from './list.ts'
import type { Part, StoredMessage, ThreadMessage } from './message.ts'
import { applyToHead } from './view-head.ts'
import { asJson, assertSafePath, type DeltaFrame, type Op, type Path } from './op.ts'
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
  return frame.seq <= view.seq ? view : { ...applyOps(view, frame.operations), seq: frame.seq }
}

/** Applies ops and returns the new view; the given view is not changed. */
export function applyOps(view: ThreadView, ops: readonly Op[]): ThreadView {
  let next = view
  for (const given of ops) {
    const op = given.type === 'append-text' && given.path.length === 0 ? { ...given, path: endOfText(next) } : given
    assertSafePath(op.path)
    if (op.path[0] === 'messages') next = applyToMessages(next, op)
    else if (op.path[0] === 'head') next = { ...next, head: applyToHead(next.head, op) }
    // Other paths come from a newer server and concern state that this client does not know.
  }
  return next
}

/** Returns the path of the last part's text in the newest message: the same in every replica of a thread. */
export function endOfText({ messages }: Pick<ThreadView, 'messages'>): Path {
  const newest = messages.at(-1)
  return newest === undefined ? [] : ['messages', newest.id, 'parts', String(newest.parts.length - 1), 'text']
}

/** Shortens the path of a single append to the end of the newest text: it would be longer than what is appended. */
export function shortOps(ops: readonly Op[], view: Pick<ThreadView, 'messages'>): readonly Op[] {
  const [op] = ops
  if (ops.length !== 1 || op?.type !== 'append-text') return ops
  const end = endOfText(view)
  const isEnd = end.length === op.path.length && end.every((segment, index) => segment === op.path[index])
  return isEnd ? [{ ...op, path: [] }] : ops
}

function applyToMessages(view: ThreadView, op: Op): ThreadView {
  const [, messageId, field, partId, ...rest] = op.path
  if (messageId === undefined) return removeMessages(view, op)
  if (field === undefined) return placeMessage(view, messageId, op)
  const at = view.messages.indexOf(messageId)
  const message = view.messages.at(at)
  // The message is outside this client's window: the op is for clients that show it.
  if (at < 0 || message === undefined) return view
  const changed =
    field === 'parts' && partId !== undefined
      ? applyToPart(message, partId, rest, op)
      : applyToField(message, field, op)
  return changed === message ? view : { ...view, messages: view.messages.set(at, changed) }
}

function removeMessages(view: ThreadView, op: Op): ThreadView {
  if (op.type !== 'remove') throw badOp(op, 'messages are set one by one, by id')
  const { from, to } = op
  if (from === undefined && to === undefined) return { ...view, messages: IdList.empty(), needsWindow: true }
  const isGone = (order: number): boolean => order >= (from ?? 0) && order <= (to ?? Infinity)
  return { ...view, messages: view.messages.filter((message) => !isGone(message.order)) }
}

function placeMessage(view: ThreadView, id: string, op: Op): ThreadView {
  if (op.type === 'append-text') throw badOp(op, 'a message is not a text')
  if (op.type === 'remove') {
    return view.messages.indexOf(id) >= 0
      ? { ...view, messages: view.messages.filter((message) => message.id !== id) }
      : view
  }
  if (!isMessage(op.value)) throw badOp(op, 'the value is no message')
  const message = reviveMessage(op.value as unknown as StoredMessage)
  let at = placeOf(view.messages, message.order)
  // The order of a message never changes, so a known message can only be at this place.
  while (view.messages.at(at)?.order === message.order && view.messages.at(at)?.id !== id) at++
  if (view.messages.at(at)?.id === id) return { ...view, messages: view.messages.set(at, message) }
  return { ...view, messages: view.messages.insert(at, message) }
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

function applyToPart(message: ThreadMessage, partId: string, rest: Path, op: Op): ThreadMessage {
  const index = partIndex(partId, message.parts.length)
  if (index < 0) throw badOp(op, `"${partId}" is no part id`)
  if (rest.length === 0) {
    if (op.type !== 'set') throw badOp(op, 'parts are only set')
    if (!isObject(op.value)) throw badOp(op, 'the value is no part')
    return { ...message, parts: putPart(message.parts, index, op.value as unknown as Part) }
  }
  const part = message.parts.at(index)
  const field = rest[0]
  if (part === undefined || field === undefined) throw badOp(op, 'the part is not there')
  if (op.type === 'append-text' && rest.length === 1) {
    const text: unknown = Object.hasOwn(part, field) ? part[field as keyof Part] : undefined
    if (typeof text !== 'string') throw badOp(op, `"${field}" is not a text`)
    if (op.len !== undefined && op.len !== text.length) throw badOp(op, 'the text has another length')
    return { ...message, parts: message.parts.set(index, { ...part, [field]: text + op.value }) }
  }
  const changed: JsonValue = applyToJson(asJson(part), op, 4)
  return { ...message, parts: message.parts.set(index, changed as unknown as Part) }
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
