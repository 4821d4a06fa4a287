import type { Head, RunState } from '../head.ts'
import { IdList } from '../id-list.ts'
import { emptyTrie, type IdTrie } from '../id-trie.ts'
import type { JsonValue } from '../json.ts'
import { Keyed } from '../keyed.ts'
import type { Part, StoredMessage, ThreadMessage } from '../message.ts'
import { asJson, isSafeSegment, type Op } from '../op.ts'
import { isForFront, withEntry, type KeyedSlice, type KeyedValue } from '../stored-head.ts'

/** The bounded state of a thread: its head and the messages of the open run. History is a view, not state. */
export interface ThreadState {
  readonly head: Head
  readonly messages: IdList<ThreadMessage>
  /** The addresses of the calls in these messages. */
  readonly calls: IdTrie<CallPlace>
}

export interface CallPlace {
  /** Message id and tool call id. */
  readonly id: string
  readonly partId: string
}

/** The application of one record: the next state, and what changed. */
export interface Draft {
  head: Head
  messages: IdList<ThreadMessage>
  calls: IdTrie<CallPlace>
  /** The last message that `findMessage` looked up. */
  found: { readonly id: string; readonly index: number } | undefined
  /** The record is not written yet and nobody is sent its changes, so the ops that every turn makes are left out. */
  readonly isOnlyShown: boolean
  readonly ops: Op[]
  /** Messages whose view row has to be written with this record. */
  readonly written: ThreadMessage[]
}

/** Creates every draft with all its fields, because adding a field later costs more than the field. */
export function newDraft({ calls, head, messages }: ThreadState, isOnlyShown: boolean): Draft {
  return { head, messages, calls, found: undefined, isOnlyShown, ops: [], written: [] }
}

type PlainSlice = Exclude<keyof Head, KeyedSlice | 'lineage' | 'run'>

export function setHead<K extends PlainSlice>(draft: Draft, key: K, value: Head[K]): void {
  draft.head = { ...draft.head, [key]: value }
  if (!draft.isOnlyShown) draft.ops.push({ type: 'set', path: ['head', key], value: value as JsonValue })
}

/** Sets one entry of `head[key]`. A new entry comes last, or first if it was queued for the front. */
export function setHeadEntry<K extends KeyedSlice>(draft: Draft, key: K, id: string, value: KeyedValue<K>): void {
  const entries: Keyed<unknown> = withEntry(key, draft.head[key], id, value)
  draft.head = { ...draft.head, [key]: entries }
  entryOp(draft, ['head', key], entries, id, value)
}

/** Adds an entry as if it were new: one with the same id moves to the new place. */
export function addHeadEntry<K extends 'queue' | 'waits'>(
  draft: Draft,
  key: K,
  id: string,
  value: KeyedValue<K>,
): void {
  const before: Keyed<unknown> = draft.head[key]
  const entries = isForFront(key, value) ? before.prepend(id, value) : before.append(id, value)
  draft.head = { ...draft.head, [key]: entries }
  if (entries.size === before.size && isSafeSegment(id)) draft.ops.push({ type: 'remove', path: ['head', key, id] })
  entryOp(draft, ['head', key], entries, id, value)
}

export function removeHeadEntry(draft: Draft, key: KeyedSlice, id: string): void {
  const entries: Keyed<unknown> = draft.head[key].delete(id)
  if (entries === draft.head[key]) return
  draft.head = { ...draft.head, [key]: entries }
  entryOp(draft, ['head', key], entries, id)
}

type KeyedOfRun = 'processes' | 'kept'

/** Sets or removes one entry of `head.run[key]`. */
export function changeRunEntry<K extends KeyedOfRun>(
  draft: Draft,
  key: K,
  id: string,
  change: (entries: NonNullable<RunState[K]>) => NonNullable<RunState[K]>,
): void {
  const { run } = draft.head
  if (run === null) return
  const entries = change((run[key] ?? Keyed.empty()) as NonNullable<RunState[K]>)
  draft.head = { ...draft.head, run: { ...run, [key]: entries } }
  entryOp(draft, ['head', 'run', key], entries, id, entries.get(id))
}

/** Ids from outside may be unfit for a path. Then the op sends all entries. */
function entryOp(draft: Draft, path: readonly string[], entries: Keyed<unknown>, id: string, value?: unknown): void {
  if (!isSafeSegment(id)) draft.ops.push({ type: 'set', path, value: asJson(entries.toJSON()) })
  else if (value === undefined) draft.ops.push({ type: 'remove', path: [...path, id] })
  else draft.ops.push({ type: 'set', path: [...path, id], value: value as JsonValue })
}

/** Returns the index of a message of the open run, or -1. */
export function findMessage(draft: Draft, id: string): number {
  if (draft.found?.id !== id) draft.found = { id, index: draft.messages.indexOf(id) }
  return draft.found.index
}

/** Removes all messages from the state. */
export function dropMessages(draft: Draft): void {
  draft.found = undefined
  draft.messages = IdList.empty()
  draft.calls = emptyTrie()
}

/** Replaces a message. One that had already ended needs its view row written again. */
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
  if (draft.isOnlyShown) return
  draft.ops.push({ type: 'set', path: partPath(messageId, part.id), value: asJson(part) })
}
