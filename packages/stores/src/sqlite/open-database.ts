import { randomUUID } from 'node:crypto'
import { DatabaseSync } from 'node:sqlite'
import { InspanError } from '@inspan/protocol'
import { databaseFiles } from '@inspan/protocol/internal'
import type { RecordFormat } from '@inspan/protocol/store'
import { SqliteConnection } from './connection.ts'
import { IN_MEMORY } from './database-url.ts'
import { inspectFile, refuseNewer, removeIfEmpty } from './file-inspection.ts'
import { refuseSharedFileSystem, type FileSystemOf } from './file-system.ts'
import { APPLICATION_ID, MIGRATIONS, SCHEMA_VERSION, TABLES } from './migrations.ts'
import { fileIdentity, fileOrigin, openFiles } from './open-files.ts'
import { hasLostCommits, hasRecoveredLess, loggedCommits } from './lost-commits.ts'
import { streamsToPurge } from './purge.ts'
import { fromSqliteError, isBusy } from './sqlite-errors.ts'
import { noteClosed, noteOpened, type Durability } from './store-epoch.ts'

export interface DatabaseOptions {
  /** An absolute path or `:memory:`. */
  readonly path: string
  /** How records are read. */
  readonly format: RecordFormat
  readonly durability: Durability
  readonly busyTimeoutMs: number
  /** Used while opening, when another process may be creating all tables. */
  readonly openTimeoutMs: number
  readonly bootId: string
  readonly fileSystemOf: FileSystemOf
  readonly maxBytes?: number
}

export interface OpenedDatabase {
  readonly db: SqliteConnection
  readonly epoch: string
  close(): void
}

/** Pages kept in memory, in KiB. */
const CACHE_KIB = 16 * 1024
/** The size to which the write-ahead log is cut back after it had to grow. */
const LOG_LIMIT_BYTES = 16 * 1024 * 1024
/**
 * The number of pages at which the write-ahead log is moved into the file, which is what it may keep anyway. A turn
 * writes the same few pages again and again: the more rarely they are moved, the fewer there are to move.
 */
const CHECKPOINT_PAGES = 4000
const LOCK_RETRY_MS = 5

export function openDatabase(options: DatabaseOptions): OpenedDatabase {
  const { path } = options
  if (path !== IN_MEMORY) refuseSharedFileSystem(path, options.fileSystemOf)
  const isFirst = path !== IN_MEMORY && !openFiles.has(fileIdentity(path))
  const created = isFirst && inspectFile(path).created
  const logged = isFirst ? loggedCommits(path) : undefined
  const isShort = logged !== undefined && hasLostCommits(path, logged)
  try {
    const database = new DatabaseSync(path)
    try {
      const db = new SqliteConnection(database, path, options.format)
      configure(db, options)
      const isLost = isShort || (logged !== undefined && hasRecoveredLess(logged, loggedCommits(path)))
      return prepareDatabase(db, options, isLost)
    } catch (error) {
      database.close()
      throw error
    }
  } catch (error) {
    if (created) removeIfEmpty(path, error)
    throw fromSqliteError(error, path)
  }
}

function prepareDatabase(db: SqliteConnection, options: DatabaseOptions, isLost: boolean): OpenedDatabase {
  const { path, bootId, durability } = options
  const id = randomUUID()
  const origin = path === IN_MEMORY ? null : fileOrigin(path)
  const epoch = db.write(() => noteOpened(db, { id, bootId, durability, origin, isLost }))
  db.exec(`PRAGMA busy_timeout = ${options.busyTimeoutMs}`)
  const file = path === IN_MEMORY ? null : fileIdentity(path)
  if (file !== null) {
    openFiles.add(file)
    databaseFiles.add(path)
  }
  return {
    db,
    epoch,
    close() {
      try {
        db.write(() => noteClosed(db, id))
      } catch {
        // No data depends on this: the next process that opens the file finds that this one is gone.
      }
      db.close()
      if (file === null) return
      openFiles.remove(file)
      databaseFiles.remove(path)
    },
  }
}

function configure(db: SqliteConnection, options: DatabaseOptions): void {
  db.exec(`PRAGMA busy_timeout = ${options.openTimeoutMs}; PRAGMA secure_delete = ON;`)
  if (options.maxBytes !== undefined) limitSize(db, options.maxBytes)
  if (versionOf(db, options.path) > 0) probeRows(db)
  // The tables are created before the log is turned on, so that the file itself says from the start that it is ours.
  const migrated = migrate(db, options.path)
  if (options.path !== IN_MEMORY) useWriteAheadLog(db, options.openTimeoutMs)
  db.exec(
    `PRAGMA synchronous = ${options.durability === 'power' ? 'FULL' : 'NORMAL'};
     PRAGMA cache_size = -${CACHE_KIB};
     PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES};
     PRAGMA journal_size_limit = ${LOG_LIMIT_BYTES};`,
  )
  if (migrated) db.truncateLog()
  probeTables(db)
}

/** Returns whether there was anything to migrate. A file that has lost tables keeps the layout it had. */
function migrate(db: SqliteConnection, path: string): boolean {
  if (versionOf(db, path) === SCHEMA_VERSION) return false
  db.write(() => {
    const version = versionOf(db, path)
    for (const migration of MIGRATIONS) {
      if (migration.version > version) db.exec(migration.sql)
    }
    db.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${SCHEMA_VERSION};`)
    probeTables(db)
  })
  return true
}

function versionOf(db: SqliteConnection, path: string): number {
  const version = Number(db.value('PRAGMA user_version'))
  refuseNewer(path, version)
  return version
}

/** Turning the log on needs exclusive access to the file for a moment, and SQLite does not wait for that by itself. */
function useWriteAheadLog(db: SqliteConnection, timeoutMs: number): void {
  const deadline = Date.now() + timeoutMs
  for (;;) {
    try {
      const mode = db.value('PRAGMA journal_mode = WAL')
      if (mode === 'wal') return
      throw new InspanError('unsupported', `The file system cannot hold a write-ahead log (mode ${String(mode)}).`, {
        hint: 'Put the database on a local disk.',
      })
    } catch (error) {
      if (!isBusy(error) || Date.now() >= deadline) throw error
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LOCK_RETRY_MS)
    }
  }
}

function limitSize(db: SqliteConnection, maxBytes: number): void {
  const pageSize = Number(db.value('PRAGMA page_size'))
  db.exec(`PRAGMA max_page_count = ${Math.max(1, Math.floor(maxBytes / pageSize))}`)
}

/**
 * Reads what opening needs before anything is written, also a newer layout. The contents of threads are not checked:
 * that would take too long, and damage in one of them is no reason to refuse the others.
 */
function probeRows(db: SqliteConnection): void {
  db.all('SELECT name, value FROM meta')
  db.all('SELECT id, boot_id, pid, start_time, durability FROM opens')
  streamsToPurge(db)
}

/** Throws when a table is missing, before it is used. */
function probeTables(db: SqliteConnection): void {
  const found = new Set(db.all<{ name: string }>('SELECT name FROM sqlite_schema').map((row) => row.name))
  const missing = TABLES.filter((name) => !found.has(name))
  if (missing.length > 0) {
    throw new InspanError('corrupt', `The database has lost its tables ${missing.join(', ')}.`, {
      hint: 'Restore it from a backup.',
      details: { missing },
    })
  }
}
