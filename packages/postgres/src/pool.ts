import type { ClientBase, Pool } from 'pg'
import { InspanError } from '@inspan/protocol'
import { SEARCH_PATH_SQL } from './connection.ts'

const CONNECT_TIMEOUT_MS = 10_000
/** The type of a 64-bit number in Postgres. Ours stay far below 2^53. */
const INT8 = 20

/** `pg` is loaded when a database is first used. */
export async function openPool(url: string, maxConnections: number): Promise<Pool> {
  const { default: pg } = await import('pg')
  const types = new pg.TypeOverrides()
  types.setTypeParser(INT8, Number)
  const pool = new pg.Pool({
    connectionString: url,
    max: maxConnections,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
    application_name: 'inspan',
    types,
    onConnect: setSearchPath,
  })
  // A connection that breaks while nobody uses it is replaced by the next call.
  pool.on('error', () => undefined)
  return pool
}

/** The pool waits for what this returns, though its types do not say so. */
function setSearchPath(client: ClientBase): unknown {
  return client.query(SEARCH_PATH_SQL)
}

export function checkUrl(url: string): void {
  if (/^postgres(ql)?:\/\//.test(url) && URL.canParse(url)) return
  throw new InspanError('invalid-input', 'The url of a Postgres store begins with `postgres://`.', {
    hint: 'For example `postgres://user:password@localhost:5432/database`.',
  })
}
