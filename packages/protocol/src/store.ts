import type { StoredHead } from './stored-head.ts'
import type { JsonObject, JsonValue } from './json.ts'
import type { Lineage } from './lineage.ts'
import type { StoredMessage } from './message.ts'
import type { RecordType } from './control-record.ts'
import type { LogRecord } from './record.ts'
import type { Wait, WaitCancelReason, WaitState } from './wait.ts'

/** One page of results. `next` is opaque, and `null` on the last page. */
export interface Page<T> {
  readonly items: readonly T[]
  readonly next: string | null
}

export interface PageRequest {
  readonly cursor?: string
  /** At most 1,000. Default: 50. */
  readonly limit?: number
}

export interface ThreadInfo {
  readonly id: string
  readonly resourceId: string
  readonly title: string | null
  readonly createdAt: number
  readonly updatedAt: number
  /** True for subagent threads: lists leave them out unless asked for them. */
  readonly hidden: boolean
  readonly root?: string
  readonly parent?: string
  readonly parentCall?: string
  readonly forkedFrom?: { readonly thread: string; readonly at: number }
  readonly metadata: JsonObject
  /** Only set in lists: what of the row could not be read. `getThread` fails with `corrupt` for such a thread. */
  readonly damaged?: string
}

/** `session` streams hold a session's own state and appear in no thread list. */
export type StreamKind = 'thread' | 'session'

export interface NewStream {
  readonly kind: StreamKind
  readonly info: ThreadInfo
  /** 0 for a root; for a fork the fork point, so that its first record has the next seq. */
  readonly headSeq: number
  /** Creates stream, ownership and first records in one transaction: nobody sees a fork without its fork record. */
  readonly start?: StreamStart
}

export interface StreamStart extends Omit<Append, 'stream' | 'fence'> {
  readonly owner: string
}

/** Proves with every append that the writer still owns the stream. */
export interface Fence {
  readonly owner: string
  readonly epoch: number
}

export interface WaitRow {
  readonly stream: string
  readonly wait: Wait
  readonly state: WaitState
  readonly answeredBy?: string
  readonly settledAt?: number
  /** Why it was cancelled. */
  readonly reason?: WaitCancelReason
}

export interface CommandOutcome {
  readonly key: CommandKey
  readonly outcome: JsonValue
}

/** One transaction: either all of it becomes visible or nothing. */
export interface Append {
  readonly stream: string
  readonly fence: Fence
  /** In order and without a gap after the stream's head. A record with `first` removes the batches of its part. */
  readonly records: readonly LogRecord[]
  readonly messages?: readonly StoredMessage[]
  readonly waits?: readonly WaitRow[]
  readonly head?: { readonly head: StoredHead; readonly reducerVersion: number }
  readonly thread?: Partial<Pick<ThreadInfo, 'title' | 'updatedAt' | 'metadata' | 'hidden' | 'resourceId'>>
  readonly outcomes?: readonly CommandOutcome[]
  readonly blobs?: readonly NewBlob[]
}

export interface NewBlob {
  readonly hash: string
  readonly mime: string
  /** Absent when the store already has the bytes and only the reference is new. */
  readonly bytes?: Uint8Array
  /** The record that refers to the blob. The blob is removed with the last record that does. */
  readonly seq: number
}

export interface Blob {
  readonly hash: string
  readonly mime: string
  readonly bytes: Uint8Array
}

export interface StreamStatus {
  readonly stream: string
  readonly kind: StreamKind
  readonly headSeq: number
  readonly owner: string | null
  readonly epoch: number
}

export interface RecordQuery extends PageRequest {
  /** Only records with a seq above this, in ascending order. */
  readonly after?: number
  readonly upTo?: number
}

export interface MessageQuery extends PageRequest {
  /** `newest` pages backwards from the end. */
  readonly order: 'newest' | 'oldest'
}

export interface CommandKey {
  readonly principal: string
  readonly clientId: string
  readonly commandId: string
}

export type CommandState = 'accepted' | 'done'

export interface CommandRow {
  readonly key: CommandKey
  readonly bodyHash: string
  readonly target: string
  /** `null` once the command was carried out: its content is then in the log, where it can be erased. */
  readonly body: JsonValue
  readonly state: CommandState
  readonly outcome: JsonValue | null
  /** The head seq of the transaction that carried the command out. */
  readonly seq: number | null
  readonly at: number
}

export interface NewCommand {
  readonly key: CommandKey
  readonly bodyHash: string
  readonly target: string
  readonly body: JsonValue
  readonly at: number
}

export type Admission =
  | { readonly status: 'accepted'; readonly command: CommandRow }
  | { readonly status: 'duplicate'; readonly command: CommandRow }
  | { readonly status: 'conflict'; readonly command: CommandRow }
  /** Too old to know whether it was carried out, so it never is. Nothing of it is stored. */
  | { readonly status: 'expired' }

export interface Owner {
  readonly id: string
  readonly host: string
  readonly pid: number
  readonly startTime: string
  /** The scope in which the pid is valid: boot of the machine and, in a container, the container. */
  readonly bootId: string
  /** The time until which the owner counts as alive without another heartbeat. 0: it has left, and left runs to others. */
  readonly until: number
  readonly url?: string
}

export type Claim =
  | {
      readonly status: 'owned'
      readonly epoch: number
      readonly headSeq: number
      /** The store went down, or was replaced by its copy, since the stream was last claimed: its owner is not to blame. */
      readonly hasStoreRestarted?: boolean
    }
  /** `holder` is null when the owner's row is gone. Such a thread can be taken over at once. */
  | { readonly status: 'held'; readonly epoch: number; readonly owner: string; readonly holder: Owner | null }

/** A process at work on a store that several machines share. */
export interface Member {
  /** The id under which it owns threads. Its row must be in the store. */
  readonly owner: string
  /** There may be work in a thread that no process is doing: an accepted command, a due wait, the run of a dead owner. */
  readonly onWake: (thread: string) => void
  /** The process did not prove in time that it is alive, so others take its threads: it must stop, and write no more. */
  readonly onLost: () => void
}

export interface Membership {
  /** Whether this process saw the owner die. Its threads can be taken over. */
  isDead(owner: string): boolean
  leave(): Promise<void>
}

/** Something to send to another system. */
export interface Delivery {
  /** 32 hexadecimal digits. The same delivery made again has the same id. */
  readonly id: string
  readonly target: string
  readonly body: string
}

/** What is to be sent to other systems, kept until it was, whichever process made it and whichever sends it. */
export interface Outbox {
  /** Up to which seq a thread's records were looked at. Null for a thread that nobody has looked at. */
  cursor(thread: string): Promise<number | null>
  /** Moves the cursor and keeps the deliveries, in one transaction. False if another process moved it meanwhile. */
  put(
    thread: string,
    cursor: { readonly from: number | null; readonly to: number },
    deliveries: readonly Delivery[],
  ): Promise<boolean>
  /** Returns threads with records past their cursor, and new ones without a cursor that were made after `since`. */
  behind(since: number): Promise<readonly string[]>
  /** Has this process send what is due. What `send` does not get rid of is due again later. */
  onDue(send: (delivery: Delivery) => Promise<boolean>): () => void
}

export interface DeleteResult {
  readonly deleted: boolean
  /** What living forks still need. It stays until the last of them is deleted. */
  readonly retained: readonly {
    readonly stream: string
    readonly from: number
    readonly to: number
    readonly neededBy: readonly string[]
  }[]
}

/** A thread whose lineage holds a part of another stream, or held one before a rewind. */
export interface ForkReach {
  readonly thread: string
  /** The last seq of the queried range that the thread's lineage includes. */
  readonly to: number
}

export interface EraseResult {
  readonly records: number
  readonly messages: number
  readonly blobs: number
}

/**
 * Keeps all data. Every method is asynchronous, lists are paged, a stream has one writer, and an append is one
 * transaction. A store knows nothing of agents: callers pass records together with the view rows that follow from them.
 */
/** How far the words of a stream are indexed. `erased` counts its erasures. */
export interface WordsIndexed {
  readonly to: number
  readonly erased: number
}

/** The text of a message for the index. */
export interface NewWords {
  readonly seq: number
  readonly text: string
}

export interface FoundWords {
  readonly id: string
  readonly order: number
}

/** Keeps an index of the words of messages, which whoever searches keeps up to date. */
export interface WordIndex {
  /** Resolves with `null` if this store cannot search. */
  indexed(stream: string): Promise<WordsIndexed | null>
  /** Adds words in the order of their seqs. Does nothing if the index is no longer as it was. */
  add(stream: string, on: WordsIndexed, words: readonly NewWords[]): Promise<void>
  /** Returns the messages of a lineage that have any of the terms, which are letters and digits, the best first. */
  search(lineage: Lineage, terms: readonly string[], limit: number): Promise<readonly FoundWords[]>
}

export interface Store {
  /** Opens the store. May be called repeatedly; every other method opens the store as well. */
  open(): Promise<void>
  /** Changes when the data was replaced or restored, which voids older cursors. Set once the store is open. */
  readonly epoch: string

  createStream(stream: NewStream): Promise<StreamStatus>
  getStream(stream: string): Promise<StreamStatus | null>
  /** Returns the new head seq. Fails with `fenced` when the writer no longer owns the stream. */
  append(append: Append): Promise<number>
  readRecords(stream: string, query: RecordQuery): Promise<Page<LogRecord>>
  /** Returns the records of a whole lineage in ascending order. */
  readLineage(lineage: Lineage, query: RecordQuery): Promise<Page<LogRecord>>
  /** Returns the newest record of a type in a lineage with a seq up to `upTo`. */
  latestRecord(lineage: Lineage, type: RecordType, upTo: number): Promise<LogRecord | null>
  /** Whether a run of this lineage was given this id by its caller (`named` in its `run.started`). */
  hasNamedRun(lineage: Lineage, runId: string): Promise<boolean>
  readHead(stream: string, reducerVersion: number): Promise<StoredHead | null>

  getThread(thread: string): Promise<ThreadInfo | null>
  /** Most recently changed threads first. */
  listThreads(
    query: PageRequest & {
      readonly resourceId?: string
      readonly includeHidden?: boolean
      /** Only the threads below this one, which are usually hidden. */
      readonly root?: string
    },
  ): Promise<Page<ThreadInfo>>
  listResourceIds(query: PageRequest): Promise<Page<string>>
  /** Returns the living threads whose lineage reaches into a range of another stream: forks, and forks of forks. */
  listForks(
    query: PageRequest & { readonly stream: string; readonly from: number; readonly to: number },
  ): Promise<Page<ForkReach>>
  /** Hides the thread at once, together with the outcome, and removes what no living fork needs. */
  deleteThread(thread: string, fence: Fence, outcome?: CommandOutcome): Promise<DeleteResult>

  listMessages(lineage: Lineage, query: MessageQuery): Promise<Page<StoredMessage>>
  getMessage(lineage: Lineage, messageId: string): Promise<StoredMessage | null>
  /** Absent: whoever searches keeps an index of its own. */
  readonly words?: WordIndex
  /** `root`: the waits of a thread and of all threads below it. */
  listWaits(
    query: PageRequest & { readonly stream?: string; readonly root?: string; readonly state?: WaitState },
  ): Promise<Page<WaitRow>>
  /** Returns pending waits that are due at `now`, the one due longest first. */
  listDue(query: PageRequest & { readonly now: number }): Promise<Page<WaitRow>>
  getWait(stream: string, waitId: string): Promise<WaitRow | null>

  /** With a lineage: only if a record of it refers to the blob. What clients ask for is always read with one. */
  readBlob(hash: string, lineage?: Lineage): Promise<Blob | null>
  /**
   * Overwrites the content of the ranges in place, one after the other. The caller appends the `erased` records. The
   * remains of a deleted thread are erased with the fence of any living fork of it.
   */
  erase(
    stream: string,
    fence: Fence,
    ...ranges: readonly { readonly from: number; readonly to: number }[]
  ): Promise<EraseResult>

  /**
   * Stores a command; the insert is the durable receipt. A known command gives `duplicate`, or `conflict` if its body
   * differs, whatever its age. Otherwise one made more than 7 days before `at` gives `expired`. An id that is no
   * UUIDv7, or is more than a day ahead of `at`, fails with `invalid-input`.
   */
  admitCommand(command: NewCommand): Promise<Admission>
  /** In the order they were admitted. Without `target`: of all threads. */
  listCommands(
    query: PageRequest & { readonly target?: string; readonly state: CommandState },
  ): Promise<Page<CommandRow>>
  getCommand(key: CommandKey): Promise<CommandRow | null>
  /** Stores the outcome of a command that changed no stream, e.g. a refused one. False when already settled. */
  settleCommand(outcome: CommandOutcome): Promise<boolean>
  /** Counts an execution of an accepted command that failed, and returns how many have. */
  failCommand(key: CommandKey): Promise<number>
  /**
   * Removes commands that were carried out and were both made and admitted before `before`, and returns how many.
   * Commands that would be admitted again if they were sent again stay, whatever `before` is.
   */
  pruneCommands(before: number): Promise<number>

  putOwner(owner: Owner): Promise<void>
  heartbeat(owner: string, until: number): Promise<boolean>
  removeOwner(owner: string): Promise<void>
  getOwner(owner: string): Promise<Owner | null>
  listOwners(query: PageRequest): Promise<Page<Owner>>
  /** Takes an unowned stream; otherwise returns who holds it. */
  claim(stream: string, owner: string): Promise<Claim>
  /** Takes the stream from a dead owner, if its epoch is still `seenEpoch`. */
  takeOver(stream: string, owner: string, seenEpoch: number): Promise<Claim>
  release(stream: string, fence: Fence): Promise<void>
  listOwned(query: PageRequest & { readonly owner: string }): Promise<Page<StreamStatus>>

  /**
   * Only a store that several machines share: makes the process prove that it is alive, watch the others, and hear of
   * work they left. Without it, owners count as alive while their process runs or until their lease ends.
   */
  join?(member: Member): Promise<Membership>
  /**
   * Calls the listener when a stream may have new records, whichever process wrote them. Signals may be late, merged or
   * lost: also look now and then. Returns the unsubscribe function.
   */
  onChange?(listener: (stream: string, seq: number) => void): () => void
  /** Only a store that several machines share. */
  readonly outbox?: Outbox

  close(): Promise<void>
}

export const DEFAULT_PAGE = 50
export const MAX_PAGE = 1000
