import { setImmediate as nextTurn } from 'node:timers/promises'
import { InspanError, type StoredMessage } from '@inspan/protocol'
import { aFunction, anObject, anything, checkOptions, oneOf, words, type OptionRules } from '@inspan/protocol/internal'
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
  type WordIndex,
} from '@inspan/protocol/store'
import { checkRanges } from './input-checks.ts'
import { addErased, type Range } from './retention.ts'
import { storeClosed } from './store-errors.ts'
import type { ForksQuery } from './stretches.ts'
import type { Connection } from './sqlite/connection.ts'
import { databasePath, IN_MEMORY } from './sqlite/database-url.ts'
import type { FileSystemOf } from './sqlite/file-system.ts'
import { currentBootId } from '../machine.ts'
import type * as sqlite from './sqlite/index.ts'
import type { OpenedDatabase } from './sqlite/open-database.ts'
import type { Durability } from './sqlite/store-epoch.ts'
import type { ThreadQuery } from './sqlite/threads.ts'

export interface SqliteStoreOptions {
  /** `file:./data.db`, a path, or `:memory:`. The directory has to exist. */
  readonly url: string
  /**
   * What a commit survives: the death of the process (`process`, the default), or also a power failure (`power`), which
   * costs about three times as much.
   */
  readonly durability?: Durability
  /**
   * How long a call waits for another process that is writing. Default: 5,000, and 30,000 for opening: another process
   * may be creating the tables, which waits for the disk.
   */
  readonly busyTimeoutMs?: number
  /** The largest size of the file; writing beyond it fails with `disk-full`. */
  readonly maxBytes?: number
  readonly clock?: () => number
  /** How records are read. Default: the format of this release. */
  readonly format?: RecordFormat
  /** Identifies this boot of the machine. Default: detected. */
  readonly bootId?: string
  /** Returns the name of the file system of a path, if other machines may have it mounted too. Default: detected. */
  readonly fileSystemOf?: FileSystemOf
}

const OPTIONS: OptionRules<SqliteStoreOptions> = {
  url: anything,
  durability: oneOf('process', 'power'),
  busyTimeoutMs: anything,
  maxBytes: anything,
  clock: aFunction,
  format: anObject,
  bootId: words,
  fileSystemOf: aFunction,
}

const BUSY_TIMEOUT_MS = 5000
const OPEN_TIMEOUT_MS = 30_000
/** Up to this file size a deletion compacts the file at once; a larger one is left to `compact` or the next erasure. */
const COMPACT_AFTER_DELETE_BYTES = 16 * 1024 * 1024

type Sqlite = typeof sqlite
type ErasedChunk = ReturnType<Sqlite['eraseChunk']>

/** SQLite is loaded when a store is first used: programs that keep everything in memory do not pay for it. */
let loaded: Sqlite | undefined

async function load(): Promise<Sqlite> {
  loaded = await import('./sqlite/index.ts')
  return loaded
}

/** A store in one SQLite file. Several processes may have it open; each thread has one writer. */
export class SqliteStore implements Store {
  readonly #path: string
  readonly #options: SqliteStoreOptions
  readonly #now: () => number
  readonly #format: RecordFormat
  #opened: OpenedDatabase | undefined
  #isClosed = false
  /** Erased text may still be in the write-ahead log, because another process was reading. */
  #owesTruncation = false

  constructor(options: SqliteStoreOptions) {
    checkOptions('a SQLite store', options, OPTIONS)
    this.#path = databasePath(options.url)
    this.#options = options
    this.#now = options.clock ?? Date.now
    this.#format = options.format ?? RECORD_FORMAT
    for (const name of ['busyTimeoutMs', 'maxBytes'] as const) {
      const value = options[name] ?? 0
      if (!Number.isInteger(value) || value < 0) {
        throw new InspanError('invalid-input', `\`${name}\` must be a whole number of at least 0.`)
      }
    }
  }

  static async open(options: SqliteStoreOptions): Promise<SqliteStore> {
    const store = new SqliteStore(options)
    try {
      await store.open()
    } catch (error) {
      // Nobody else could close it: the caller gets no store.
      await store.close()
      throw error
    }
    return store
  }

  async open(): Promise<void> {
    await this.#purge()
  }

  get epoch(): string {
    if (loaded !== undefined) return this.#open(loaded).epoch
    throw new InspanError('misuse', 'The epoch of a store is known when it was opened.', {
      hint: 'Call `open()` first.',
    })
  }

  async createStream(stream: NewStream): Promise<StreamStatus> {
    return this.#use((db, sql) => sql.createStream(db, stream))
  }

  async getStream(stream: string): Promise<StreamStatus | null> {
    return this.#read((db, sql) => {
      const row = sql.findLivingStream(db, stream)
      return row === undefined ? null : sql.statusOf(row)
    })
  }

  async append(request: Append): Promise<number> {
    return this.#use((db, sql) => {
      const headSeq = sql.append(db, request)
      if (this.#owesTruncation) this.#retryTruncation(db)
      return headSeq
    })
  }

  async readRecords(stream: string, query: RecordQuery): Promise<Page<LogRecord>> {
    return this.#read((db, sql) => sql.readRecords(db, this.#format, stream, query))
  }

  async readLineage(lineage: Lineage, query: RecordQuery): Promise<Page<LogRecord>> {
    return this.#read((db, sql) => sql.readLineage(db, this.#format, lineage, query))
  }

  async latestRecord(lineage: Lineage, type: RecordType, upTo: number): Promise<LogRecord | null> {
    return this.#read((db, sql) => sql.latestRecord(db, this.#format, lineage, type, upTo))
  }

  async hasNamedRun(lineage: Lineage, runId: string): Promise<boolean> {
    return this.#read((db, sql) => sql.hasNamedRun(db, lineage, runId))
  }

  async readHead(stream: string, reducerVersion: number): Promise<StoredHead | null> {
    return this.#read((db, sql) => sql.readHead(db, stream, reducerVersion))
  }

  async getThread(thread: string): Promise<ThreadInfo | null> {
    return this.#read((db, sql) => sql.getThread(db, thread))
  }

  async listThreads(query: ThreadQuery): Promise<Page<ThreadInfo>> {
    return this.#read((db, sql) => sql.listThreads(db, query))
  }

  async listResourceIds(query: PageRequest): Promise<Page<string>> {
    return this.#read((db, sql) => sql.listResourceIds(db, query))
  }

  async listForks(query: ForksQuery): Promise<Page<ForkReach>> {
    return this.#read((db, sql) => sql.listForks(db, query))
  }

  async deleteThread(thread: string, fence: Fence, outcome?: CommandOutcome): Promise<DeleteResult> {
    const result = await this.#use((db, sql) => sql.hideThread(db, thread, fence, this.#now(), outcome))
    await this.#purge()
    return result
  }

  async listMessages(lineage: Lineage, query: MessageQuery): Promise<Page<StoredMessage>> {
    return this.#read((db, sql) => sql.listMessages(db, lineage, query))
  }

  async getMessage(lineage: Lineage, messageId: string): Promise<StoredMessage | null> {
    return this.#read((db, sql) => sql.getMessage(db, lineage, messageId))
  }

  readonly words: WordIndex = {
    indexed: (stream) => this.#use((db, sql) => sql.wordsIndexed(db, stream)),
    add: (stream, on, words) => this.#use((db, sql) => sql.addWords(db, stream, on, words)),
    search: (lineage, terms, limit) => this.#read((db, sql) => sql.searchWords(db, lineage, terms, limit)),
  }

  async listWaits(query: Parameters<Store['listWaits']>[0]): Promise<Page<WaitRow>> {
    return this.#read((db, sql) => sql.listWaits(db, query))
  }

  async listDue(query: PageRequest & { readonly now: number }): Promise<Page<WaitRow>> {
    return this.#read((db, sql) => sql.listDue(db, query))
  }

  async getWait(stream: string, waitId: string): Promise<WaitRow | null> {
    return this.#read((db, sql) => sql.getWait(db, stream, waitId))
  }

  async readBlob(hash: string, lineage?: Lineage): Promise<Blob | null> {
    return this.#read((db, sql) => sql.readBlob(db, hash, lineage))
  }

  async erase(stream: string, fence: Fence, ...ranges: readonly Range[]): Promise<EraseResult> {
    checkRanges(ranges)
    const total = { records: 0, messages: 0, blobs: 0 }
    for (const range of ranges) {
      for (let from: number | null = range.from; from !== null;) {
        const { done, next }: ErasedChunk = await this.#eraseChunk(stream, fence, { from, to: range.to })
        addErased(total, done)
        from = next
        if (from !== null) await nextTurn()
      }
    }
    await this.#use((db) => this.#sweep(db, Infinity))
    return total
  }

  #eraseChunk(stream: string, fence: Fence, range: Range): Promise<ErasedChunk> {
    return this.#use((db, sql) => sql.eraseChunk(db, this.#format, stream, fence, range, this.#now()))
  }

  /** Rewrites the file without remains of deleted data. Takes about a second per 100 MB. */
  async compact(): Promise<void> {
    await this.#use((db) => this.#sweep(db, Infinity))
  }

  async admitCommand(command: NewCommand): Promise<Admission> {
    return this.#use((db, sql) => sql.admitCommand(db, command))
  }

  async listCommands(
    query: PageRequest & { readonly target?: string; readonly state: CommandState },
  ): Promise<Page<CommandRow>> {
    return this.#read((db, sql) => sql.listCommands(db, query))
  }

  async getCommand(key: CommandKey): Promise<CommandRow | null> {
    return this.#read((db, sql) => sql.getCommand(db, key))
  }

  async settleCommand(outcome: CommandOutcome): Promise<boolean> {
    return this.#use((db, sql) => sql.settleCommand(db, outcome))
  }

  async failCommand(key: CommandKey): Promise<number> {
    return this.#use((db, sql) => sql.failCommand(db, key))
  }

  async pruneCommands(before: number): Promise<number> {
    return this.#use((db, sql) => sql.pruneCommands(db, before, this.#now()))
  }

  async putOwner(owner: Owner): Promise<void> {
    await this.#use((db, sql) => db.write(() => sql.putOwner(db, owner)))
  }

  async heartbeat(owner: string, until: number): Promise<boolean> {
    return this.#use((db, sql) => db.write(() => sql.heartbeat(db, owner, until)))
  }

  async removeOwner(owner: string): Promise<void> {
    await this.#use((db, sql) => sql.removeOwner(db, owner))
  }

  async getOwner(owner: string): Promise<Owner | null> {
    return this.#read((db, sql) => sql.getOwner(db, owner))
  }

  async listOwners(query: PageRequest): Promise<Page<Owner>> {
    return this.#read((db, sql) => sql.listOwners(db, query))
  }

  async claim(stream: string, owner: string): Promise<Claim> {
    return this.#use((db, sql) => sql.claim(db, stream, owner))
  }

  async takeOver(stream: string, owner: string, seenEpoch: number): Promise<Claim> {
    return this.#use((db, sql) => sql.claim(db, stream, owner, seenEpoch))
  }

  async release(stream: string, fence: Fence): Promise<void> {
    await this.#use((db, sql) => sql.release(db, stream, fence))
  }

  async listOwned(query: PageRequest & { readonly owner: string }): Promise<Page<StreamStatus>> {
    return this.#read((db, sql) => sql.listOwned(db, query))
  }

  /**
   * Reads the whole file and returns what is damaged, one line each; empty when everything in it can be read. For
   * diagnosis, not for every start.
   */
  async check(): Promise<readonly string[]> {
    return this.#use((db, sql) => sql.checkDatabase(db, this.#format))
  }

  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#opened?.close()
    this.#opened = undefined
  }

  #read<T>(work: (db: Connection, sql: Sqlite) => T): Promise<T> {
    return this.#use((db, sql) => db.read(() => work(db, sql)))
  }

  /** Runs at once when SQLite is loaded, so that calls happen in the order in which they are made. */
  async #use<T>(work: (db: Connection, sql: Sqlite) => T): Promise<T> {
    if (this.#isClosed) throw storeClosed()
    const sql = loaded ?? (await load())
    return work(this.#open(sql).db, sql)
  }

  #open(sql: Sqlite): OpenedDatabase {
    if (this.#isClosed) throw storeClosed()
    const { durability = 'process', busyTimeoutMs, bootId, maxBytes, fileSystemOf } = this.#options
    this.#opened ??= sql.openDatabase({
      path: this.#path,
      durability,
      busyTimeoutMs: busyTimeoutMs ?? BUSY_TIMEOUT_MS,
      openTimeoutMs: busyTimeoutMs ?? OPEN_TIMEOUT_MS,
      bootId: bootId ?? currentBootId(),
      fileSystemOf: fileSystemOf ?? sql.sharedFileSystemOf,
      ...(maxBytes === undefined ? {} : { maxBytes }),
    })
    return this.#opened
  }

  /** Purges deleted streams, also those that a dead process had left. */
  async #purge(): Promise<void> {
    const streams = await this.#read((db, sql) => sql.streamsToPurge(db))
    if (streams.length === 0) return
    for (const no of streams) {
      while (await this.#use((db, sql) => sql.purgeChunk(db, no))) await nextTurn()
    }
    try {
      await this.#use((db) => this.#sweep(db, COMPACT_AFTER_DELETE_BYTES))
    } catch {
      // The threads are gone either way; their remains in unused space are removed with the next erasure.
      this.#owesTruncation = true
    }
  }

  /** Removes the remains of deleted rows from the file, if that is not too large, and from the log. */
  #sweep(db: Connection, maxBytes: number): void {
    if (this.#path !== IN_MEMORY && db.size() <= maxBytes) db.compact()
    this.#owesTruncation = !db.truncateLog()
  }

  /** Called after a commit: a failure here must not look like a failed commit, nor make anybody wait. */
  #retryTruncation(db: Connection): void {
    try {
      this.#owesTruncation = !db.withoutWaiting(() => db.truncateLog())
    } catch {
      this.#owesTruncation = true
    }
  }
}
