import { Socket } from 'node:net'
import type { Client } from 'pg'
import { SEARCH_PATH_SQL } from '../connection.ts'

const RETRY_MS = 200
const CONNECT_TIMEOUT_MS = 2000
/** A direct line that does not answer is broken: the server may be cut off without a word. */
const QUERY_TIMEOUT_MS = 2000
export const CHANNEL = 'inspan'

export interface LineOptions {
  readonly url: string
  /** Called on every new connection, before anything else happens on it. */
  readonly onConnected: (client: Client) => Promise<void>
  readonly onNotification: (payload: string) => void
}

/**
 * A connection of its own for what belongs to a session of Postgres: locks and notifications. It is made again whenever
 * it breaks. A pooler that shares sessions between transactions cannot carry it.
 */
export class DirectLine {
  readonly #options: LineOptions
  #connected = Promise.withResolvers<Client>()
  #socket: Socket | undefined
  #isClosed = false
  #pause: (() => void) | undefined
  readonly #done: Promise<void>

  constructor(options: LineOptions) {
    this.#options = options
    this.#done = this.#keep()
  }

  /** Runs a statement on the connection. Waits for one if there is none, however many attempts that takes. */
  async query<Row>(text: string, values: readonly unknown[] = []): Promise<Row[]> {
    if (this.#isClosed) throw closed()
    const client = await this.#connected.promise
    try {
      return (await client.query({ text, values: [...values] })).rows as Row[]
    } catch (error) {
      // Whatever it was, a new session starts from a known state.
      this.#socket?.destroy()
      throw error
    }
  }

  /** Breaks the connection, so that a new one is made. */
  reconnect(): void {
    this.#socket?.destroy()
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#pause?.()
    this.#connected.promise.catch(() => undefined)
    this.#connected.reject(closed())
    // Not `end()`, which waits for a server that may be gone.
    this.#socket?.destroy()
    await this.#done
  }

  async #keep(): Promise<void> {
    while (!this.#isClosed) {
      const startedAt = performance.now()
      await this.#connect().catch(() => undefined)
      // A connection that has lasted is made again at once: without it, others soon take this process for dead.
      if (!this.#isClosed && performance.now() - startedAt < RETRY_MS) await this.#wait(RETRY_MS)
    }
  }

  /** Resolves when the connection has ended. */
  async #connect(): Promise<void> {
    const { default: pg } = await import('pg')
    const socket = new Socket()
    const client = new pg.Client({
      stream: () => socket,
      connectionString: this.#options.url,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      query_timeout: QUERY_TIMEOUT_MS,
      keepAlive: true,
      application_name: 'inspan line',
    })
    const ended = new Promise<void>((resolve) => socket.once('close', () => resolve()))
    client.on('error', () => undefined)
    client.on('notification', ({ payload }) => this.#options.onNotification(payload ?? ''))
    this.#socket = socket
    try {
      await client.connect()
      await client.query(SEARCH_PATH_SQL)
      await this.#options.onConnected(client)
      await client.query(`LISTEN ${CHANNEL}`)
      this.#connected.resolve(client)
      await ended
      this.#connected = Promise.withResolvers()
    } finally {
      socket.destroy()
    }
  }

  #wait(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms)
      this.#pause = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }
}

function closed(): Error {
  return new Error('The line is closed.')
}
