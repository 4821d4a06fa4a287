import type { Pool, PoolClient, QueryResult } from 'pg'
import { fromPostgresError, isTransient } from './postgres-errors.ts'

/** The text of a statement and its values, on a connection of the pool or on the one of a transaction. */
export interface SqlSession {
  all<Row>(sql: string, ...values: readonly unknown[]): Promise<Row[]>
  /** Returns the number of changed rows. */
  run(sql: string, ...values: readonly unknown[]): Promise<number>
  /** For what is done once, such as migrations: several statements without values. */
  exec(sql: string): Promise<void>
}

type Queryable = Pick<Pool | PoolClient, 'query'>

/**
 * For every new connection: functions of Postgres are called by their bare names, and in another schema of the path
 * somebody else could have put a function that fits better.
 */
export const SEARCH_PATH_SQL = 'SET search_path = pg_catalog, pg_temp'

/** How often work is repeated that Postgres rolled back because of a deadlock. */
const ATTEMPTS = 5

/** The connections of one store: statements are prepared once per connection, and errors say what to do. */
export class PostgresConnection implements SqlSession {
  readonly #pool: Pool
  readonly #session: SqlSession

  constructor(pool: Pool) {
    this.#pool = pool
    this.#session = sessionOn(pool)
  }

  all<Row>(sql: string, ...values: readonly unknown[]): Promise<Row[]> {
    return reported(() => this.#session.all<Row>(sql, ...values))
  }

  run(sql: string, ...values: readonly unknown[]): Promise<number> {
    return reported(() => this.#session.run(sql, ...values))
  }

  exec(sql: string): Promise<void> {
    return reported(() => this.#session.exec(sql))
  }

  /** Runs the work in one transaction. */
  write<T>(work: (db: SqlSession) => Promise<T>): Promise<T> {
    return reported(() => this.#transaction(work))
  }

  async close(): Promise<void> {
    await this.#pool.end()
  }

  async #transaction<T>(work: (db: SqlSession) => Promise<T>): Promise<T> {
    const client = await this.#pool.connect()
    // A connection that breaks also fails the statement that runs on it.
    const ignore = (): void => undefined
    client.on('error', ignore)
    let broken: Error | undefined
    try {
      await client.query('BEGIN')
      const result = await work(sessionOn(client))
      await client.query('COMMIT')
      return result
    } catch (error) {
      broken = await rollBack(client)
      throw error
    } finally {
      client.off('error', ignore)
      client.release(broken)
    }
  }
}

async function rollBack(client: PoolClient): Promise<Error | undefined> {
  try {
    await client.query('ROLLBACK')
    return undefined
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error))
  }
}

/** Postgres wrote nothing when it reports a deadlock, so the work can be repeated. */
async function reported<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work()
    } catch (error) {
      if (attempt < ATTEMPTS && isTransient(error)) continue
      throw fromPostgresError(error)
    }
  }
}

/** A name makes the connection keep the parsed statement. The same text has the same name everywhere. */
const names = new Map<string, string>()

function nameOf(sql: string): string {
  let name = names.get(sql)
  if (name === undefined) {
    name = `inspan_${names.size}`
    names.set(sql, name)
  }
  return name
}

function sessionOn(client: Queryable): SqlSession {
  const query = (sql: string, values: readonly unknown[]): Promise<QueryResult> =>
    client.query({ name: nameOf(sql), text: sql, values: [...values] })
  return {
    all: async <Row>(sql: string, ...values: readonly unknown[]) => (await query(sql, values)).rows as Row[],
    run: async (sql, ...values) => (await query(sql, values)).rowCount ?? 0,
    exec: async (sql) => void (await client.query(sql)),
  }
}
