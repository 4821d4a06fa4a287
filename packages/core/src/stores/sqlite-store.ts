import { setImmediate as nextTurn } from 'node:timers/promises'
import {
  EvenerError,
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
  type Head,
  type Lineage,
  type LogRecord,
  type MessageQuery,
  type NewCommand,
  type NewStream,
  type Owner,
  type Page,
  type PageRequest,
  type RecordQuery,
  type RecordType,
  type Store,
  type StoredMessage,
  type StreamStatus,
  type ThreadInfo,
  type WaitRow,
  type WaitState,
} from '@evener/protocol'
import { checkRanges } from './input-checks.ts'
import { addErased, type Range } from './retention.ts'
import { storeClosed } from './store-errors.ts'
import type { ForksQuery } from './stretches.ts'
import { append, createStream } from './sqlite/append.ts'
import { readBlob } from './sqlite/blobs.ts'
import { claim, listOwned, release, removeOwner } from './sqlite/claims.ts'
import { admitCommand, getCommand, listCommands, pruneCommands, settleCommand } from './sqlite/commands.ts'
import type { Connection } from './sqlite/connection.ts'
import { databasePath, IN_MEMORY } from './sqlite/database-url.ts'
import { hideThread } from './sqlite/delete-thread.ts'
import { eraseChunk } from './sqlite/erase.ts'
import { sharedFileSystemOf, type FileSystemOf } from './sqlite/file-system.ts'
import { readHead } from './sqlite/heads.ts'
import { currentBootId } from '../machine.ts'
import { getMessage, listMessages } from './sqlite/messages.ts'
import { listForks } from './sqlite/needs.ts'
import { openDatabase, type OpenedDatabase } from './sqlite/open-database.ts'
import { getOwner, heartbeat, listOwners, putOwner } from './sqlite/owner-rows.ts'
import { purgeChunk, streamsToPurge } from './sqlite/purge.ts'
import { latestRecord, readLineage, readRecords } from './sqlite/records.ts'
import type { Durability } from './sqlite/store-epoch.ts'
import { findLivingStream, statusOf } from './sqlite/streams.ts'
import { getThread, listResourceIds, listThreads, type ThreadQuery } from './sqlite/threads.ts'
import { getWait, listWaits } from './sqlite/waits.ts'

export interface SqliteStoreOptions {
  /** `file:./data.db`, a path, or `:memory:`. The directory has to exist. */
  readonly url: string
  /**
   * What a commit survives: the death of the process (`process`, the default), or also the loss of power (`power`),
   * at about three times the price.
   */
  readonly durability?: Durability
  /** How long a call waits for another process that is writing. 5,000 when absent. */
  readonly busyTimeoutMs?: number
  /** The largest the file may become; writing beyond it fails with `disk-full`. */
  readonly maxBytes?: number
  readonly clock?: () => number
  /** What tells this boot of the machine from others; found out when absent. */
  readonly bootId?: string
  /** The name of the file system a path is on, if other machines may have it mounted too; found out when absent. */
  readonly fileSystemOf?: FileSystemOf
}

const BUSY_TIMEOUT_MS = 5000
/** Up to this size a deletion writes the file anew at once; a larger one is left to `compact` or the next erasure. */
const COMPACT_AFTER_DELETE_BYTES = 16 * 1024 * 1024

/** A store in one SQLite file. Several processes may have it open; each thread has one writer. */
export class SqliteStore implements Store {
  readonly #path: string
  readonly #options: SqliteStoreOptions
  readonly #now: () => number
  #opened: OpenedDatabase | undefined
  #isClosed = false
  /** Erased text may still stand in the write-ahead log, because somebody was reading. */
  #owesTruncation = false

  constructor(options: SqliteStoreOptions) {
    this.#path = databasePath(options.url)
    this.#options = options
    this.#now = options.clock ?? Date.now
    for (const name of ['busyTimeoutMs', 'maxBytes'] as const) {
      const value = options[name] ?? 0
      if (!Number.isInteger(value) || value < 0) {
        throw new EvenerError('invalid-input', `\`${name}\` must be a whole number of at least 0.`)
      }
    }
  }

  static async open(options: SqliteStoreOptions): Promise<SqliteStore> {
    const store = new SqliteStore(options)
    await store.open()
    return store
  }

  async open(): Promise<void> {
    await this.#purge()
  }

  get epoch(): string {
    return this.#open().epoch
  }

  async createStream(stream: NewStream): Promise<StreamStatus> {
    return createStream(this.#db(), stream)
  }

  async getStream(stream: string): Promise<StreamStatus | null> {
    const row = this.#read((db) => findLivingStream(db, stream))
    return row === undefined ? null : statusOf(row)
  }

  async append(request: Append): Promise<number> {
    const headSeq = append(this.#db(), request)
    if (this.#owesTruncation) this.#retryTruncation()
    return headSeq
  }

  async readRecords(stream: string, query: RecordQuery): Promise<Page<LogRecord>> {
    return this.#read((db) => readRecords(db, stream, query))
  }

  async readLineage(lineage: Lineage, query: RecordQuery): Promise<Page<LogRecord>> {
    return this.#read((db) => readLineage(db, lineage, query))
  }

  async latestRecord(lineage: Lineage, type: RecordType, upTo: number): Promise<LogRecord | null> {
    return this.#read((db) => latestRecord(db, lineage, type, upTo))
  }

  async readHead(stream: string, reducerVersion: number): Promise<Head | null> {
    return this.#read((db) => readHead(db, stream, reducerVersion))
  }

  async getThread(thread: string): Promise<ThreadInfo | null> {
    return this.#read((db) => getThread(db, thread))
  }

  async listThreads(query: ThreadQuery): Promise<Page<ThreadInfo>> {
    return this.#read((db) => listThreads(db, query))
  }

  async listResourceIds(query: PageRequest): Promise<Page<string>> {
    return this.#read((db) => listResourceIds(db, query))
  }

  async listForks(query: ForksQuery): Promise<Page<ForkReach>> {
    return this.#read((db) => listForks(db, query))
  }

  async deleteThread(thread: string, fence: Fence): Promise<DeleteResult> {
    const result = hideThread(this.#db(), thread, fence, this.#now())
    await this.#purge()
    return result
  }

  async listMessages(lineage: Lineage, query: MessageQuery): Promise<Page<StoredMessage>> {
    return this.#read((db) => listMessages(db, lineage, query))
  }

  async getMessage(lineage: Lineage, messageId: string): Promise<StoredMessage | null> {
    return this.#read((db) => getMessage(db, lineage, messageId))
  }

  async listWaits(
    query: PageRequest & { readonly stream?: string; readonly state?: WaitState },
  ): Promise<Page<WaitRow>> {
    return this.#read((db) => listWaits(db, query))
  }

  async getWait(stream: string, waitId: string): Promise<WaitRow | null> {
    return this.#read((db) => getWait(db, stream, waitId))
  }

  async readBlob(hash: string): Promise<Blob | null> {
    return this.#read((db) => readBlob(db, hash))
  }

  async erase(stream: string, fence: Fence, ...ranges: readonly Range[]): Promise<EraseResult> {
    checkRanges(ranges)
    const total = { records: 0, messages: 0, blobs: 0 }
    for (const range of ranges) {
      for (let from: number | null = range.from; from !== null;) {
        const { done, next } = eraseChunk(this.#db(), stream, fence, { from, to: range.to }, this.#now())
        addErased(total, done)
        from = next
        if (from !== null) await nextTurn()
      }
    }
    this.#sweep(Infinity)
    return total
  }

  /** Writes the file anew, without any remains of what was deleted. Takes about a second per 100 MB. */
  async compact(): Promise<void> {
    this.#sweep(Infinity)
  }

  async admitCommand(command: NewCommand): Promise<Admission> {
    return admitCommand(this.#db(), command)
  }

  async listCommands(
    query: PageRequest & { readonly target: string; readonly state: CommandState },
  ): Promise<Page<CommandRow>> {
    return this.#read((db) => listCommands(db, query))
  }

  async getCommand(key: CommandKey): Promise<CommandRow | null> {
    return this.#read((db) => getCommand(db, key))
  }

  async settleCommand(outcome: CommandOutcome): Promise<boolean> {
    return settleCommand(this.#db(), outcome)
  }

  async pruneCommands(before: number): Promise<number> {
    return pruneCommands(this.#db(), before, this.#now())
  }

  async putOwner(owner: Owner): Promise<void> {
    const db = this.#db()
    db.write(() => putOwner(db, owner))
  }

  async heartbeat(owner: string, until: number): Promise<boolean> {
    const db = this.#db()
    return db.write(() => heartbeat(db, owner, until))
  }

  async removeOwner(owner: string): Promise<void> {
    removeOwner(this.#db(), owner)
  }

  async getOwner(owner: string): Promise<Owner | null> {
    return this.#read((db) => getOwner(db, owner))
  }

  async listOwners(query: PageRequest): Promise<Page<Owner>> {
    return this.#read((db) => listOwners(db, query))
  }

  async claim(stream: string, owner: string): Promise<Claim> {
    return claim(this.#db(), stream, owner)
  }

  async takeOver(stream: string, owner: string, seenEpoch: number): Promise<Claim> {
    return claim(this.#db(), stream, owner, seenEpoch)
  }

  async release(stream: string, fence: Fence): Promise<void> {
    release(this.#db(), stream, fence)
  }

  async listOwned(query: PageRequest & { readonly owner: string }): Promise<Page<StreamStatus>> {
    return this.#read((db) => listOwned(db, query))
  }

  /** Reads the whole file and names what is damaged; empty when nothing is. For a doctor, not for every start. */
  async check(): Promise<readonly string[]> {
    try {
      const rows = this.#read((db) => db.all<{ quick_check: string }>('PRAGMA quick_check(100)'))
      return rows.map((row) => row.quick_check).filter((text) => text !== 'ok')
    } catch (error) {
      if (EvenerError.is(error, 'corrupt')) return [error.message]
      throw error
    }
  }

  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#opened?.close()
    this.#opened = undefined
  }

  #read<T>(work: (db: Connection) => T): T {
    const db = this.#db()
    return db.read(() => work(db))
  }

  #db(): Connection {
    return this.#open().db
  }

  #open(): OpenedDatabase {
    if (this.#isClosed) throw storeClosed()
    const { durability = 'process', busyTimeoutMs = BUSY_TIMEOUT_MS, bootId, maxBytes, fileSystemOf } = this.#options
    this.#opened ??= openDatabase({
      path: this.#path,
      durability,
      busyTimeoutMs,
      bootId: bootId ?? currentBootId(),
      fileSystemOf: fileSystemOf ?? sharedFileSystemOf,
      ...(maxBytes === undefined ? {} : { maxBytes }),
    })
    return this.#opened
  }

  /** Removes what nobody needs any more, also what a process that died left to be removed. */
  async #purge(): Promise<void> {
    const streams = streamsToPurge(this.#db())
    if (streams.length === 0) return
    for (const no of streams) {
      while (purgeChunk(this.#db(), no)) await nextTurn()
    }
    try {
      this.#sweep(COMPACT_AFTER_DELETE_BYTES)
    } catch {
      // The threads are gone either way; what they left in unused space goes with the next erasure.
      this.#owesTruncation = true
    }
  }

  /** Removes what deleted rows left behind in the file, if it is not too large for that, and in the log. */
  #sweep(maxBytes: number): void {
    const db = this.#db()
    if (this.#path !== IN_MEMORY && db.size() <= maxBytes) db.compact()
    this.#owesTruncation = !db.truncateLog()
  }

  /** After a commit: whatever goes wrong here must not look as if the commit had failed, nor hold anybody up. */
  #retryTruncation(): void {
    const db = this.#db()
    try {
      this.#owesTruncation = !db.withoutWaiting(() => db.truncateLog())
    } catch {
      this.#owesTruncation = true
    }
  }
}
