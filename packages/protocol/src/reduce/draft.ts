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
  /** The message the record is about, once it was looked for. */
  found: { readonly id: string; readonly index: number } | undefined
  /** Nobody is sent what is not written yet: what every turn says needs no ops then. */
  readonly isOnlyShown: boolean
  readonly ops: Op[]
  /** Messages whose view row has to be written with this record. */
  readonly written: ThreadMessage[]
}

/** Every draft has the same fields from the start: what is added later costs more than the field. */
export function newDraft({ calls, head, messages }: ThreadState, isOnlyShown: boolean): Draft {
  return { head, messages, calls, found: undefined, isOnlyShown, ops: [], written: [] }
}

type PlainSlice = Exclude<keyof Head, KeyedSlice | 'lineage' | 'run'>

export function setHead<K extends PlainSlice>(draft: Draft, key: K, value: Head[K]): void {
  draft.head = { ...draft.head, [key]: value }
  if (!draft.isOnlyShown) draft.ops.push({ type: 'set', path: ['head', key], value: value as JsonValue })
}

/** Sets one entry of `head[key]`. A new one comes last, unless it says otherwise. */
export function setHeadEntry<K extends KeyedSlice>(draft: Draft, key: K, id: string, value: KeyedValue<K>): void {
  const entries: Keyed<unknown> = withEntry(key, draft.head[key], id, value)
  draft.head = { ...draft.head, [key]: entries }
  entryOp(draft, ['head', key], entries, id, value)
}

/** Adds an entry in its place as if it had never been there. */
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

/** Names that come from outside need not be fit for a path: then all entries are sent. */
function entryOp(draft: Draft, path: readonly string[], entries: Keyed<unknown>, id: string, value?: unknown): void {
  if (!isSafeSegment(id)) draft.ops.push({ type: 'set', path, value: asJson(entries.toJSON()) })
  else if (value === undefined) draft.ops.push({ type: 'remove', path: [...path, id] })
  else draft.ops.push({ type: 'set', path: [...path, id], value: value as JsonValue })
}

/** Where a message of the open run stands, or -1. */
export function findMessage(draft: Draft, id: string): number {
  if (draft.found?.id !== id) draft.found = { id, index: draft.messages.indexOf(id) }
  return draft.found.index
}

/** The messages leave the state. */
export function dropMessages(draft: Draft): void {
  draft.found = undefined
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
  if (draft.isOnlyShown) return
  draft.ops.push({ type: 'set', path: partPath(messageId, part.id), value: asJson(part) })
}
