import { InspanError } from '@inspan/protocol'
import type { BackoffOptions } from './backoff.ts'
import { Client } from './client.ts'
import { CommandOutbox, type OutboxStorage } from './outbox.ts'
import { webSocketTransport, type Transport } from './transport.ts'

export interface ConnectOptions {
  /** The server's `url`. Not needed with a `transport`. */
  readonly url?: string
  /** The server's token. Leave it out in a browser that has the server's cookie. */
  readonly token?: string
  /** How to reach the server. Default: a WebSocket to `url`. */
  readonly transport?: Transport
  /** The thread to show. Default: the newest one. */
  readonly thread?: string
  /** How many of the newest messages to hold. Default: 50. */
  readonly window?: number
  /** Keeps unsettled commands over a reload of the page. Default: they are kept in memory. */
  readonly outbox?: OutboxStorage
  /** How long to wait before connecting again. */
  readonly retry?: BackoffOptions
}

/** Connects to a server and resolves when the state of the thread is there. */
export async function connect(options: ConnectOptions): Promise<Client> {
  const client = await createClient(options)

  try {
    await client.ready()
  } catch (error) {
    await client.close()
    throw error
  }
  return client
}

/** Like `connect`, but resolves before there is a connection: `client.ready()` resolves with it. */
export async function createClient(options: ConnectOptions): Promise<Client> {
  const { outbox, retry, thread, window } = options
  return new Client({
    transport: options.transport ?? transportTo(options),
    outbox: await CommandOutbox.open(outbox, Date.now()),
    ...(retry === undefined ? {} : { retry }),
    ...(thread === undefined ? {} : { thread }),
    ...(window === undefined ? {} : { window }),
  })
}

function transportTo({ token, url }: ConnectOptions): Transport {
  if (url === undefined || !/^https?:\/\//.test(url)) {
    throw new InspanError('invalid-input', '`connect` needs the `url` of a server, such as http://127.0.0.1:4100.')
  }
  return webSocketTransport({ url, ...(token === undefined ? {} : { token }) })
}
