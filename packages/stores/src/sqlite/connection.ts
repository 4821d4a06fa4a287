import type { DatabaseSync, SQLInputValue, SQLOutputValue, StatementSync } from 'node:sqlite'
import type { RecordFormat } from '@inspan/protocol/store'
import { fromSqliteError } from './sqlite-errors.ts'

/** The most streams whose number is remembered; then all are forgotten. */
const MOST_NUMBERS = 10_000

/** One open database: statements prepared once, transactions, and errors that say what to do. */
export class SqliteConnection {
  /** How records are read. */
  readonly format: RecordFormat
  readonly #db: DatabaseSync
  readonly #location: string
  readonly #statements = new Map<string, StatementSync>()
  readonly #streamNumbers = new Map<string, number>()
  readonly #bindsNumbered: boolean

  constructor(db: DatabaseSync, location: string, format: RecordFormat) {
    this.format = format
    this.#db = db
    this.#location = location
    this.#bindsNumbered = bindsNumbered(db)
  }

  /** Returns the first row, or `undefined`. */
  get(sql: string, ...values: SQLInputValue[]): unknown {
    return this.#prepared(sql).get(...this.#bound(sql, values))
  }

  /** Returns the only column of the first row, or `undefined`. */
  value(sql: string, ...values: SQLInputValue[]): SQLOutputValue | undefined {
    const row = this.#prepared(sql).get(...this.#bound(sql, values))
    return row === undefined ? undefined : Object.values(row)[0]
  }

  all<Row>(sql: string, ...values: SQLInputValue[]): Row[] {
    return this.#prepared(sql).all(...this.#bound(sql, values)) as Row[]
  }

  /** Returns the number of changed rows. */
  run(sql: string, ...values: SQLInputValue[]): number {
    return Number(this.#prepared(sql).run(...this.#bound(sql, values)).changes)
  }

  /** Returns the number of a stream that is written here: looking it up again costs as much as a row. */
  knownStream(stream: string): number | undefined {
    return this.#streamNumbers.get(stream)
  }

  rememberStream(stream: string, no: number): void {
    if (this.#streamNumbers.size === MOST_NUMBERS) this.#streamNumbers.clear()
    this.#streamNumbers.set(stream, no)
  }

  /** For what is done once: pragmas and migrations. */
  exec(sql: string): void {
    this.#db.exec(sql)
  }

  read<T>(work: () => T): T {
    try {
      return work()
    } catch (error) {
      throw fromSqliteError(error, this.#location)
    }
  }

  /**
   * Runs the work in one transaction that takes the write lock at the start, so that it cannot fail half-way for lack
   * of it.
   */
  write<T>(work: () => T): T {
    try {
      this.run('BEGIN IMMEDIATE')
      const result = work()
      this.run('COMMIT')
      return result
    } catch (error) {
      this.#rollBack()
      throw fromSqliteError(error, this.#location)
    }
  }

  /**
   * Rewrites the file. SQLite overwrites what it deletes, but when rows move between pages, old copies stay in the
   * unused part of a page: only this removes them.
   */
  compact(): void {
    this.read(() => this.#db.exec('VACUUM'))
  }

  /** Returns the size in bytes, without the log. */
  size(): number {
    return this.read(() => Number(this.value('PRAGMA page_count')) * Number(this.value('PRAGMA page_size')))
  }

  /**
   * Moves everything into the main file and empties the write-ahead log. Returns false when another process is reading
   * for as long as calls wait for locks.
   */
  truncateLog(): boolean {
    return this.read(() => {
      // A connection that has turned the log on but not read since would open it within the checkpoint, and then wait
      // for itself to stop reading while it holds the write lock.
      this.value('SELECT count(*) FROM sqlite_schema')
      return this.value('PRAGMA wal_checkpoint(TRUNCATE)') === 0
    })
  }

  /** Runs the work without ever waiting for another process. */
  withoutWaiting<T>(work: () => T): T {
    const timeout = Number(this.value('PRAGMA busy_timeout'))
    this.exec('PRAGMA busy_timeout = 0')
    try {
      return work()
    } finally {
      this.exec(`PRAGMA busy_timeout = ${timeout}`)
    }
  }

  close(): void {
    this.#statements.clear()
    this.#db.close()
  }

  /** Node before 22.20 treats a parameter like `?1` as a named one and refuses it by position. */
  #bound(sql: string, values: SQLInputValue[]): SQLInputValue[] {
    if (this.#bindsNumbered || !sql.includes('?1')) return values
    const named = Object.fromEntries(values.map((value, index) => [`?${index + 1}`, value]))
    // The types of node:sqlite expect named values as a separate first parameter, which a spread cannot express.
    return [named as unknown as SQLInputValue]
  }

  #prepared(sql: string): StatementSync {
    let statement = this.#statements.get(sql)
    if (statement === undefined) {
      statement = this.#db.prepare(sql)
      this.#statements.set(sql, statement)
    }
    return statement
  }

  #rollBack(): void {
    try {
      this.run('ROLLBACK')
    } catch {
      // SQLite has rolled back by itself, or the transaction never began.
    }
  }
}

function bindsNumbered(db: DatabaseSync): boolean {
  try {
    return db.prepare('SELECT ?1 AS value').get(7)?.['value'] === 7
  } catch {
    return false
  }
}
