import type { Head } from '../head.ts'
import { IdList } from '../id-list.ts'
import { emptyTrie, type IdTrie } from '../id-trie.ts'
import type { JsonValue } from '../json.ts'
import type { Part, StoredMessage, ThreadMessage } from '../message.ts'
import { asJson, type Op } from '../op.ts'

/** The bounded state of a thread: its head and the messages of the open run. History is a view, not state. */
export interface ThreadState {
  readonly head: Head
  readonly messages: IdList<ThreadMessage>
  /** Where the calls of these messages stand. */
  readonly calls: IdTrie<CallPlace>
}

export interface CallPlace {
  /** Message and call. */
  readonly id: string
  readonly partId: string
}

/** One record being applied: the next state, and what it changed. */
export interface Draft {
  head: Head
  messages: IdList<ThreadMessage>
  calls: IdTrie<CallPlace>
  readonly ops: Op[]
  /** Messages whose view row has to be written with this record. */
  readonly written: ThreadMessage[]
}

export function setHead<K extends keyof Head>(draft: Draft, key: K, value: Head[K]): void {
  draft.head = { ...draft.head, [key]: value }
  draft.ops.push({ type: 'set', path: ['head', key], value: value as JsonValue })
}

/** Sets `head[key][id]`. */
export function setHeadEntry(draft: Draft, key: 'waits' | 'bindings', id: string, value: object): void {
  draft.head = { ...draft.head, [key]: { ...draft.head[key], [id]: value } }
  draft.ops.push({ type: 'set', path: ['head', key, id], value: asJson(value) })
}

export function removeHeadEntry(draft: Draft, key: 'waits' | 'bindings', id: string): void {
  if (!Object.hasOwn(draft.head[key], id)) return
  const { [id]: _removed, ...rest } = draft.head[key] as Record<string, unknown>
  draft.head = { ...draft.head, [key]: rest }
  draft.ops.push({ type: 'remove', path: ['head', key, id] })
}

/** The messages leave the state. */
export function dropMessages(draft: Draft): void {
  draft.messages = IdList.empty()
  draft.calls = emptyTrie()
}

/** Replaces a message; one that had ended already needs its view row again. */
export function putMessage(draft: Draft, index: number, message: ThreadMessage): void {
  draft.messages = draft.messages.set(index, message)
  if (message.state !== 'open') draft.written.push(message)
}

export function storedMessage(message: ThreadMessage): StoredMessage {
  return { ...message, parts: message.parts.toArray() }
}

export function partPath(messageId: string, partId: string, field?: string): string[] {
  return field === undefined
    ? ['messages', messageId, 'parts', partId]
    : ['messages', messageId, 'parts', partId, field]
}

export function setPartOp(draft: Draft, messageId: string, part: Part): void {
  draft.ops.push({ type: 'set', path: partPath(messageId, part.id), value: asJson(part) })
}
