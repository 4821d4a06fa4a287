import { randomUUID } from 'node:crypto'
import { statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { EvenerError } from '@evener/protocol'
import { Connection } from './connection.ts'
import { IN_MEMORY } from './database-url.ts'
import { inspectFile, refuseNewer, removeIfEmpty } from './file-inspection.ts'
import { APPLICATION_ID, MIGRATIONS, SCHEMA_VERSION } from './migrations.ts'
import { fromSqliteError } from './sqlite-errors.ts'
import { noteOpened, type Durability } from './store-epoch.ts'

export interface DatabaseOptions {
  /** An absolute path or `:memory:`. */
  readonly path: string
  readonly durability: Durability
  readonly busyTimeoutMs: number
  readonly bootId: string
  readonly maxBytes?: number
}

export interface OpenedDatabase {
  readonly db: Connection
  readonly epoch: string
  /** Names this opening among others of the same file. */
  readonly openId: string
}

/** Pages kept in memory, in KiB. */
const CACHE_KIB = 16 * 1024
/** What the write-ahead log is cut back to after it had to grow. */
const LOG_LIMIT_BYTES = 16 * 1024 * 1024
const LOCK_RETRY_MS = 5

export function openDatabase(options: DatabaseOptions): OpenedDatabase {
  const { path } = options
  const isFile = path !== IN_MEMORY
  const created = isFile && inspectFile(path).created
  try {
    const database = new DatabaseSync(path)
    try {
      const db = new Connection(database, path)
      prepareDatabase(db, options)
      const openId = randomUUID()
      const { bootId, durability } = options
      const epoch = db.write(() =>
        noteOpened(db, { id: openId, bootId, durability, file: isFile ? fileIdentity(path) : null }),
      )
      return { db, epoch, openId }
    } catch (error) {
      database.close()
      throw error
    }
  } catch (error) {
    if (created) removeIfEmpty(path)
    throw fromSqliteError(error, path)
  }
}

function prepareDatabase(db: Connection, options: DatabaseOptions): void {
  db.exec(`PRAGMA busy_timeout = ${options.busyTimeoutMs}; PRAGMA secure_delete = ON; PRAGMA temp_store = MEMORY;`)
  // The layout is written before the log is turned on, so that the file itself says from the start whose it is.
  const migrated = migrate(db, options.path)
  if (options.path !== IN_MEMORY) useWriteAheadLog(db, options.busyTimeoutMs)
  db.exec(
    `PRAGMA synchronous = ${options.durability === 'power' ? 'FULL' : 'NORMAL'};
     PRAGMA cache_size = -${CACHE_KIB};
     PRAGMA journal_size_limit = ${LOG_LIMIT_BYTES};`,
  )
  if (options.maxBytes !== undefined) limitSize(db, options.maxBytes)
  if (migrated) db.truncateLog()
  probeTables(db)
}

/** Gives whether there was anything to do. */
function migrate(db: Connection, path: string): boolean {
  if (versionOf(db, path) === SCHEMA_VERSION) return false
  db.write(() => {
    const version = versionOf(db, path)
    for (const migration of MIGRATIONS) {
      if (migration.version > version) db.exec(migration.sql)
    }
    db.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${SCHEMA_VERSION};`)
  })
  return true
}

function versionOf(db: Connection, path: string): number {
  const version = Number(db.value('PRAGMA user_version'))
  refuseNewer(path, version)
  return version
}

/** Turning the log on needs the file for itself for a moment, and SQLite does not wait for that by itself. */
function useWriteAheadLog(db: Connection, timeoutMs: number): void {
  const deadline = Date.now() + timeoutMs
  for (;;) {
    try {
      const mode = db.value('PRAGMA journal_mode = WAL')
      if (mode === 'wal') return
      throw new EvenerError('unsupported', `The file system cannot hold a write-ahead log (mode ${String(mode)}).`, {
        hint: 'Put the database on a local disk.',
      })
    } catch (error) {
      const isBusy = error instanceof Error && 'errcode' in error && Number(error.errcode) % 256 === 5
      if (!isBusy || Date.now() >= deadline) throw error
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LOCK_RETRY_MS)
    }
  }
}

function limitSize(db: Connection, maxBytes: number): void {
  const pageSize = Number(db.value('PRAGMA page_size'))
  db.exec(`PRAGMA max_page_count = ${Math.max(1, Math.floor(maxBytes / pageSize))}`)
}

/** Finds a cut-off file or a lost table before anything is written to it. Reading all of it would take too long. */
function probeTables(db: Connection): void {
  const tables = db.all<{ name: string }>("SELECT name FROM sqlite_schema WHERE type = 'table'")
  if (tables.length === 0) throw new EvenerError('corrupt', 'The database has lost its tables.')
  for (const { name } of tables) db.get(`SELECT 1 FROM "${name}" LIMIT 1`)
}

function fileIdentity(path: string): string {
  const { dev, ino } = statSync(path, { bigint: true })
  return `${dev}:${ino}`
}
