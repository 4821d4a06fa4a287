import { randomUUID } from 'node:crypto'
import {
  RECORD_FORMAT,
  type Append,
  type CommandOutcome,
  type DeleteResult,
  type EraseResult,
  type Fence,
  type RecordFormat,
  type Store,
} from '@inspan/protocol/store'
import { DataStore, type DataOperations } from './data-store.ts'
import { checkRanges } from './shared/input-checks.ts'
import { append, createStream } from './memory/append.ts'
import { readBlob } from './memory/blobs.ts'
import { admitCommand, getCommand, listCommands, pruneCommands, failCommand, settleCommand } from './memory/commands.ts'
import { getStream, MemoryState, readHead } from './memory/memory-state.ts'
import {
  claim,
  getOwner,
  heartbeat,
  listOwned,
  listOwners,
  putOwner,
  release,
  removeOwner,
} from './memory/ownership.ts'
import { getMessage, latestRecord, hasNamedRun, listMessages, readLineage } from './memory/reads.ts'
import { deleteThread, erase, listForks } from './memory/removal.ts'
import { getThread, listResourceIds, listThreads } from './memory/threads.ts'
import { getWait, listDue, listWaits } from './memory/waits.ts'
import { addErased, type Range } from './shared/retention.ts'
import { storeClosed } from './shared/store-errors.ts'

export interface MemoryStoreOptions {
  readonly clock?: () => number
  /** How records are read. Default: the format of this release. */
  readonly format?: RecordFormat
}

const OPERATIONS: DataOperations<MemoryState> = {
  createStream,
  getStream,
  readLineage,
  latestRecord,
  hasNamedRun,
  readHead,
  getThread,
  listThreads,
  listResourceIds,
  listForks,
  listMessages,
  getMessage,
  listWaits,
  listDue,
  getWait,
  readBlob,
  admitCommand,
  listCommands,
  getCommand,
  settleCommand,
  failCommand,
  putOwner,
  heartbeat,
  removeOwner,
  getOwner,
  listOwners,
  claim,
  release,
  listOwned,
}

/**
 * A store in memory, which ends with the process. It keeps texts, not objects: callers cannot change what they passed
 * in or got out, and everything behaves as it does on disk.
 */
export class MemoryStore extends DataStore<MemoryState> implements Store {
  readonly epoch: string = randomUUID()
  readonly #now: () => number
  #state: MemoryState | null

  constructor(options: MemoryStoreOptions = {}) {
    super()
    this.#now = options.clock ?? Date.now
    this.#state = new MemoryState(options.format ?? RECORD_FORMAT)
  }

  async open(): Promise<void> {
    this.#open()
  }

  async append(request: Append): Promise<number> {
    return append(this.#open(), request)
  }

  async deleteThread(thread: string, fence: Fence, outcome?: CommandOutcome): Promise<DeleteResult> {
    return deleteThread(this.#open(), thread, fence, this.#now(), outcome)
  }

  async erase(stream: string, fence: Fence, ...ranges: readonly Range[]): Promise<EraseResult> {
    checkRanges(ranges)
    const total = { records: 0, messages: 0, blobs: 0 }
    for (const range of ranges) addErased(total, erase(this.#open(), stream, fence, range, this.#now()))
    return total
  }

  async pruneCommands(before: number): Promise<number> {
    return pruneCommands(this.#open(), before, this.#now())
  }

  async close(): Promise<void> {
    this.#state = null
  }

  protected override async use<T>(work: (state: MemoryState, on: DataOperations<MemoryState>) => T): Promise<T> {
    return work(this.#open(), OPERATIONS)
  }

  #open(): MemoryState {
    if (this.#state === null) throw storeClosed()
    return this.#state
  }
}
