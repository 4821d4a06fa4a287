import { randomUUID } from 'node:crypto'
import type { StoredMessage } from '@inspan/protocol'
import type { Lineage, LogRecord, RecordType, StoredHead } from '@inspan/protocol/log'
import {
  RECORD_FORMAT,
  type Admission,
  type Append,
  type Blob,
  type Claim,
  type CommandKey,
  type CommandOutcome,
  type CommandRow,
  type CommandState,
  type DeleteResult,
  type EraseResult,
  type Fence,
  type ForkReach,
  type MessageQuery,
  type NewCommand,
  type NewStream,
  type Owner,
  type Page,
  type PageRequest,
  type RecordFormat,
  type RecordQuery,
  type Store,
  type StreamStatus,
  type ThreadInfo,
  type WaitRow,
} from '@inspan/protocol/store'
import { checkRanges } from './input-checks.ts'
import { append, createStream } from './memory/append.ts'
import { readBlob } from './memory/blobs.ts'
import { admitCommand, getCommand, listCommands, pruneCommands, failCommand, settleCommand } from './memory/commands.ts'
import { MemoryState, statusOf } from './memory/memory-state.ts'
import { claim, heartbeat, listOwned, listOwners, putOwner, release, removeOwner } from './memory/ownership.ts'
import { getMessage, latestRecord, hasNamedRun, listMessages, readLineage, readRecords } from './memory/reads.ts'
import { deleteThread, erase, listForks } from './memory/removal.ts'
import { listResourceIds, listThreads, threadInfo, type ThreadQuery } from './memory/threads.ts'
import { getWait, listDue, listWaits } from './memory/waits.ts'
import { addErased, type Range } from './retention.ts'
import { storeClosed } from './store-errors.ts'
import type { ForksQuery } from './stretches.ts'

export interface MemoryStoreOptions {
  readonly clock?: () => number
  /** How records are read. Default: the format of this release. */
  readonly format?: RecordFormat
}

/**
 * A store in memory, which ends with the process. It keeps texts, not objects: callers cannot change what they passed
 * in or got out, and everything behaves as it does on disk.
 */
export class MemoryStore implements Store {
  readonly epoch: string = randomUUID()
  readonly #now: () => number
  #state: MemoryState | null

  constructor(options: MemoryStoreOptions = {}) {
    this.#now = options.clock ?? Date.now
    this.#state = new MemoryState(options.format ?? RECORD_FORMAT)
  }

  async open(): Promise<void> {
    this.#open()
  }

  async createStream(stream: NewStream): Promise<StreamStatus> {
    return createStream(this.#open(), stream)
  }

  async getStream(id: string): Promise<StreamStatus | null> {
    const stream = this.#open().living(id)
    return stream === undefined ? null : statusOf(stream)
  }

  async append(request: Append): Promise<number> {
    return append(this.#open(), request)
  }

  async readRecords(stream: string, query: RecordQuery): Promise<Page<LogRecord>> {
    return readRecords(this.#open(), stream, query)
  }

  async readLineage(lineage: Lineage, query: RecordQuery): Promise<Page<LogRecord>> {
    return readLineage(this.#open(), lineage, query)
  }

  async latestRecord(lineage: Lineage, type: RecordType, upTo: number): Promise<LogRecord | null> {
    return latestRecord(this.#open(), lineage, type, upTo)
  }

  async hasNamedRun(lineage: Lineage, runId: string): Promise<boolean> {
    return hasNamedRun(this.#open(), lineage, runId)
  }

  async readHead(stream: string, reducerVersion: number): Promise<StoredHead | null> {
    const head = this.#open().living(stream)?.head
    return head?.version === reducerVersion ? (JSON.parse(head.json) as StoredHead) : null
  }

  async getThread(id: string): Promise<ThreadInfo | null> {
    const thread = this.#open().living(id)?.thread ?? null
    return thread === null ? null : threadInfo(thread)
  }

  async listThreads(query: ThreadQuery): Promise<Page<ThreadInfo>> {
    return listThreads(this.#open().streams.values(), query)
  }

  async listResourceIds(query: PageRequest): Promise<Page<string>> {
    return listResourceIds(this.#open().streams.values(), query)
  }

  async listForks(query: ForksQuery): Promise<Page<ForkReach>> {
    return listForks(this.#open(), query)
  }

  async deleteThread(thread: string, fence: Fence, outcome?: CommandOutcome): Promise<DeleteResult> {
    return deleteThread(this.#open(), thread, fence, this.#now(), outcome)
  }

  async listMessages(lineage: Lineage, query: MessageQuery): Promise<Page<StoredMessage>> {
    return listMessages(this.#open(), lineage, query)
  }

  async getMessage(lineage: Lineage, messageId: string): Promise<StoredMessage | null> {
    return getMessage(this.#open(), lineage, messageId)
  }

  async listWaits(query: Parameters<Store['listWaits']>[0]): Promise<Page<WaitRow>> {
    return listWaits(this.#open(), query)
  }

  async listDue(query: PageRequest & { readonly now: number }): Promise<Page<WaitRow>> {
    return listDue(this.#open(), query)
  }

  async getWait(stream: string, waitId: string): Promise<WaitRow | null> {
    return getWait(this.#open(), stream, waitId)
  }

  async readBlob(hash: string, lineage?: Lineage): Promise<Blob | null> {
    return readBlob(this.#open(), hash, lineage)
  }

  async erase(stream: string, fence: Fence, ...ranges: readonly Range[]): Promise<EraseResult> {
    checkRanges(ranges)
    const total = { records: 0, messages: 0, blobs: 0 }
    for (const range of ranges) addErased(total, erase(this.#open(), stream, fence, range, this.#now()))
    return total
  }

  async admitCommand(command: NewCommand): Promise<Admission> {
    return admitCommand(this.#open(), command)
  }

  async listCommands(
    query: PageRequest & { readonly target?: string; readonly state: CommandState },
  ): Promise<Page<CommandRow>> {
    return listCommands(this.#open(), query)
  }

  async getCommand(key: CommandKey): Promise<CommandRow | null> {
    return getCommand(this.#open(), key)
  }

  async settleCommand(outcome: CommandOutcome): Promise<boolean> {
    return settleCommand(this.#open(), outcome)
  }

  async failCommand(key: CommandKey): Promise<number> {
    return failCommand(this.#open(), key)
  }

  async pruneCommands(before: number): Promise<number> {
    return pruneCommands(this.#open(), before, this.#now())
  }

  async putOwner(owner: Owner): Promise<void> {
    putOwner(this.#open(), owner)
  }

  async heartbeat(owner: string, until: number): Promise<boolean> {
    return heartbeat(this.#open(), owner, until)
  }

  async removeOwner(owner: string): Promise<void> {
    removeOwner(this.#open(), owner)
  }

  async getOwner(owner: string): Promise<Owner | null> {
    return this.#open().owners.get(owner) ?? null
  }

  async listOwners(query: PageRequest): Promise<Page<Owner>> {
    return listOwners(this.#open(), query)
  }

  async claim(stream: string, owner: string): Promise<Claim> {
    return claim(this.#open(), stream, owner)
  }

  async takeOver(stream: string, owner: string, seenEpoch: number): Promise<Claim> {
    return claim(this.#open(), stream, owner, seenEpoch)
  }

  async release(stream: string, fence: Fence): Promise<void> {
    release(this.#open(), stream, fence)
  }

  async listOwned(query: PageRequest & { readonly owner: string }): Promise<Page<StreamStatus>> {
    return listOwned(this.#open(), query)
  }

  async close(): Promise<void> {
    this.#state = null
  }

  #open(): MemoryState {
    if (this.#state === null) throw storeClosed()
    return this.#state
  }
}
