import { setImmediate as nextTurn } from 'node:timers/promises'
import { InspanError } from '@inspan/protocol'
import { aFunction, anObject, anything, checkOptions, oneOf, words, type OptionRules } from '@inspan/protocol/internal'
import {
  RECORD_FORMAT,
  type Append,
  type CommandOutcome,
  type DeleteResult,
  type EraseResult,
  type Fence,
  type RecordFormat,
  type Store,
  type WordIndex,
} from '@inspan/protocol/store'
import { DataStore, type DataOperations } from './data-store.ts'
import { checkRanges } from './shared/input-checks.ts'
import { addErased, type Range } from './shared/retention.ts'
import { openStore } from './shared/open-store.ts'
import { notYetOpened, storeClosed } from './shared/store-errors.ts'
import type { SqliteConnection } from './sqlite/connection.ts'
import { databasePath, IN_MEMORY } from './sqlite/database-url.ts'
import type { FileSystemOf } from './sqlite/file-system.ts'
import { currentBootId } from './shared/machine.ts'
import type * as sqlite from './sqlite/index.ts'
import type { OpenedDatabase } from './sqlite/open-database.ts'
import type { Durability } from './sqlite/store-epoch.ts'

export interface SqliteStoreOptions {
  /** `file:./data.db`, a path, a `file://` URL, or `:memory:`. The directory must exist. */
  readonly url: string
  /**
   * What a commit survives: `kill -9` of the process (`process`), or also a power failure (`power`), which costs about
   * three times as much. Default: `process`.
   */
  readonly durability?: Durability
  /**
   * Milliseconds that a call waits for another process that is writing. Default: 5,000, and 30,000 for opening, when
   * another process may be creating the tables.
   */
  readonly busyTimeoutMs?: number
  /** The maximum size of the file. Beyond it, writing fails with `disk-full`. */
  readonly maxBytes?: number
  /** For tests. Default: the system's clock. */
  readonly clock?: () => number
  /** How records are read. Default: the format of this release. */
  readonly format?: RecordFormat
  /** For tests: identifies this boot of the machine. Default: detected. */
  readonly bootId?: string
  /** For tests: returns the name of the file system of a path, if other machines may have mounted it too. Default: detected. */
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
export class SqliteStore extends DataStore<SqliteConnection> implements Store {
  readonly #path: string
  readonly #options: SqliteStoreOptions
  readonly #now: () => number
  #opened: OpenedDatabase | undefined
  #isClosed = false
  /** Erased text may still be in the write-ahead log, because another process was reading. */
  #owesTruncation = false

  constructor(options: SqliteStoreOptions) {
    super()
    checkOptions('a SQLite store', options, OPTIONS)
    this.#path = databasePath(options.url)
    this.#options = options
    this.#now = options.clock ?? Date.now
    for (const name of ['busyTimeoutMs', 'maxBytes'] as const) {
      const value = options[name] ?? 0
      if (!Number.isInteger(value) || value < 0) {
        throw new InspanError('invalid-input', `\`${name}\` must be a whole number of at least 0.`)
      }
    }
  }

  static async open(options: SqliteStoreOptions): Promise<SqliteStore> {
    return openStore(new SqliteStore(options))
  }

  async open(): Promise<void> {
    await this.#purge()
  }

  get epoch(): string {
    if (loaded !== undefined) return this.#open(loaded).epoch
    throw notYetOpened()
  }

  async append(request: Append): Promise<number> {
    return this.#use((db, sql) => {
      const headSeq = sql.append(db, request)
      if (this.#owesTruncation) this.#retryTruncation(db)
      return headSeq
    })
  }

  async deleteThread(thread: string, fence: Fence, outcome?: CommandOutcome): Promise<DeleteResult> {
    const result = await this.#use((db, sql) => sql.hideThread(db, thread, fence, this.#now(), outcome))
    await this.#purge()
    return result
  }

  readonly words: WordIndex = {
    indexed: (stream) => this.#use((db, sql) => sql.wordsIndexed(db, stream)),
    add: (stream, on, words) => this.#use((db, sql) => sql.addWords(db, stream, on, words)),
    search: (lineage, terms, limit) => this.#read((db, sql) => sql.searchWords(db, lineage, terms, limit)),
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
    return this.#use((db, sql) => sql.eraseChunk(db, stream, fence, range, this.#now()))
  }

  /** Rewrites the file without remains of deleted data. Takes about a second per 100 MB. */
  async compact(): Promise<void> {
    await this.#use((db) => this.#sweep(db, Infinity))
  }

  async pruneCommands(before: number): Promise<number> {
    return this.#use((db, sql) => sql.pruneCommands(db, before, this.#now()))
  }

  /**
   * Reads the whole file and returns what is damaged, one line each; empty when everything in it can be read. For
   * diagnosis, not for every start.
   */
  async check(): Promise<readonly string[]> {
    return this.#use((db, sql) => sql.checkDatabase(db))
  }

  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#opened?.close()
    this.#opened = undefined
  }

  protected override use<T>(work: (db: SqliteConnection, on: DataOperations<SqliteConnection>) => T): Promise<T> {
    return this.#read(work)
  }

  #read<T>(work: (db: SqliteConnection, sql: Sqlite) => T): Promise<T> {
    return this.#use((db, sql) => db.read(() => work(db, sql)))
  }

  /** Runs at once when SQLite is loaded, so that calls happen in the order in which they are made. */
  async #use<T>(work: (db: SqliteConnection, sql: Sqlite) => T): Promise<T> {
    if (this.#isClosed) throw storeClosed()
    const sql = loaded ?? (await load())
    return work(this.#open(sql).db, sql)
  }

  #open(sql: Sqlite): OpenedDatabase {
    if (this.#isClosed) throw storeClosed()
    const { durability = 'process', busyTimeoutMs, bootId, format, maxBytes, fileSystemOf } = this.#options
    this.#opened ??= sql.openDatabase({
      path: this.#path,
      format: format ?? RECORD_FORMAT,
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
  #sweep(db: SqliteConnection, maxBytes: number): void {
    if (this.#path !== IN_MEMORY && db.size() <= maxBytes) db.compact()
    this.#owesTruncation = !db.truncateLog()
  }

  /** Called after a commit: a failure here must not look like a failed commit, nor make anybody wait. */
  #retryTruncation(db: SqliteConnection): void {
    try {
      this.#owesTruncation = !db.withoutWaiting(() => db.truncateLog())
    } catch {
      this.#owesTruncation = true
    }
  }
}
