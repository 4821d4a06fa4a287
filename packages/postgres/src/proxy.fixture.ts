import { mkdtemp, rm } from 'node:fs/promises'
import { createConnection, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const SOCKET = '.s.PGSQL.5432'
/** What the server sends when it has answered everything: the end of a round trip. */
const READY_FOR_QUERY = 'Z'.charCodeAt(0)

/** A line to a Postgres server that counts round trips and can be cut. */
export interface Proxy {
  readonly url: string
  roundTrips(): number
  /** Breaks every connection. New ones are possible. */
  cut(): void
  /** From now on nothing gets through, and nobody is told: as when a cable is pulled. */
  hang(): void
  /** Breaks every connection, and the next ones too, so many times. */
  refuse(times: number): void
  refused(): number
  /** From now on connections go to another server. Those that exist are cut. */
  redirect(target: string): void
  close(): Promise<void>
}

export async function startProxy(target: string): Promise<Proxy> {
  const url = new URL(target)
  const socketOf = (place: string): string => join(decodeURIComponent(new URL(place).hostname), SOCKET)
  let targetSocket = socketOf(target)
  const folder = await mkdtemp(join(tmpdir(), 'inspan-proxy-'))
  const sockets = new Set<Socket>()
  let roundTrips = 0
  let isHanging = false
  let refusals = 0
  let refused = 0
  const server = createServer((client) => {
    if (refused < refusals) {
      refused += 1
      client.destroy()
      return
    }
    if (isHanging) {
      sockets.add(client)
      return
    }
    const upstream = createConnection(targetSocket)
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('error', () => undefined)
      socket.on('close', () => {
        sockets.delete(socket)
        client.destroy()
        upstream.destroy()
      })
    }
    client.pipe(upstream)
    upstream.pipe(client)
    let rest = Buffer.alloc(0)
    upstream.on('data', (chunk: Buffer) => {
      rest = Buffer.concat([rest, chunk])
      // A message is its type, its length without the type, and its content.
      while (rest.length >= 5 && rest.length > rest.readUInt32BE(1)) {
        if (rest[0] === READY_FOR_QUERY) roundTrips += 1
        rest = rest.subarray(1 + rest.readUInt32BE(1))
      }
    })
  })
  await new Promise<void>((resolve) => server.listen(join(folder, SOCKET), resolve))
  const cut = (): void => {
    isHanging = false
    for (const socket of sockets) socket.destroy()
  }
  return {
    url: target.replace(url.hostname, encodeURIComponent(folder)),
    roundTrips: () => roundTrips,
    cut,
    hang: () => {
      isHanging = true
      for (const socket of sockets) {
        socket.unpipe()
        socket.removeAllListeners('close')
        socket.pause()
      }
    },
    refuse: (times) => {
      refusals += times
      cut()
    },
    refused: () => refused,
    redirect: (other) => {
      targetSocket = socketOf(other)
      cut()
    },
    close: async () => {
      cut()
      await new Promise((resolve) => server.close(resolve))
      await rm(folder, { recursive: true, force: true })
    },
  }
}
