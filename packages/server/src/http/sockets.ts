import type { IncomingMessage, Server } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { MAX_MESSAGE_BYTES } from '@inspan/protocol/wire'
import { WebSocketServer, type WebSocket } from 'ws'
import { ServedConnection } from '../connection/connection.ts'
import { CLOSE, type Sink } from '../connection/sink.ts'
import type { ServerContext } from '../context.ts'
import { checkSource, identifyCaller, SUBPROTOCOL, type HttpRefusal } from './guard.ts'

export const SOCKET_PATHS: readonly string[] = ['/v1/ws', '/ws']

const HEARTBEAT_MS = 15_000
/** After so many pings without an answer a client is given up. */
const MAX_UNANSWERED = 2
/** A client that was behind goes on when no more than this is unsent. */
const LOW_MARK = 64 * 1024

interface SocketClient {
  readonly socket: WebSocket
  readonly connection: ServedConnection
  /** Pings sent since the last sign of life. */
  unanswered: number
}

/** Serves WebSocket clients on an HTTP server. */
export class Sockets {
  readonly #context: ServerContext
  readonly #server: WebSocketServer
  readonly #clients = new Set<SocketClient>()
  readonly #heartbeat: NodeJS.Timeout

  constructor(context: ServerContext, isLocal: boolean) {
    this.#context = context
    this.#server = new WebSocketServer({
      noServer: true,
      maxPayload: MAX_MESSAGE_BYTES,
      // Done below, because a client that reads nothing must not fill the memory with answers to its pings.
      autoPong: false,
      // On this machine compressing costs more than sending.
      perMessageDeflate: isLocal ? false : { threshold: 1024, concurrencyLimit: 4 },
      handleProtocols: (offered) => (offered.has(SUBPROTOCOL) ? SUBPROTOCOL : false),
    })
    this.#heartbeat = setInterval(() => this.#beat(), HEARTBEAT_MS)
    this.#heartbeat.unref()
    context.guard.tokens.onRevoked((id) => {
      for (const { connection } of this.#clients) if (connection.caller.tokenId === id) connection.close('unauthorized')
    })
  }

  attach(server: Server): void {
    server.on('upgrade', (request, socket, head) => {
      socket.on('error', () => socket.destroy())
      void this.#upgrade(request, socket, head).catch(() => socket.destroy())
    })
  }

  close(): void {
    clearInterval(this.#heartbeat)
    for (const { connection } of this.#clients) connection.close('shutdown')
    this.#server.close()
  }

  /** Ends what has not closed by itself. */
  terminate(): void {
    for (const { socket } of this.#clients) socket.terminate()
  }

  async #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const { guard } = this.#context
    const refused = checkSource(request, guard)
    if (refused !== undefined) return refuse(socket, refused)
    const { caller, refusal } = await identifyCaller(request, guard)
    if (caller === undefined) return refuse(socket, refusal ?? { status: 401, message: 'A valid token is needed.' })
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost')
    if (!SOCKET_PATHS.includes(pathname)) return refuse(socket, { status: 400, message: 'No WebSocket here.' })
    this.#server.handleUpgrade(request, socket, head, (opened) => {
      const connection = new ServedConnection(
        this.#context.hub,
        this.#context.executor,
        caller,
        socketSink(opened, request.socket),
      )
      this.#serve(opened, connection)
      // A client that offers our subprotocol says hello first; any other one expects the state at once.
      if (opened.protocol !== SUBPROTOCOL) void connection.startAsSeed(searchParams.get('thread') ?? undefined)
    })
  }

  #serve(socket: WebSocket, connection: ServedConnection): void {
    const client: SocketClient = { socket, connection, unanswered: 0 }
    this.#clients.add(client)
    const alive = (): void => {
      client.unanswered = 0
    }
    socket.on('pong', alive)
    socket.on('ping', (data) => {
      alive()
      if (socket.bufferedAmount <= LOW_MARK) socket.pong(data)
    })
    socket.on('message', (data, isBinary) => {
      alive()
      if (isBinary) connection.close('protocol')
      else connection.receive((data as Buffer).toString('utf8'))
    })
    socket.on('error', () => undefined)
    socket.on('close', () => {
      this.#clients.delete(client)
      connection.ended()
    })
    socket.on('drain', () => connection.drained())
  }

  #beat(): void {
    for (const client of this.#clients) {
      const { connection, socket } = client
      if (client.unanswered >= MAX_UNANSWERED) {
        connection.close('idle')
        socket.terminate()
        continue
      }
      // A client that has not read what was sent cannot answer a ping that comes after it: `check` decides about it.
      if (socket.bufferedAmount === 0) {
        client.unanswered++
        socket.ping()
        connection.ping()
      }
      connection.check(HEARTBEAT_MS)
    }
  }
}

export function socketSink(socket: WebSocket, network: Socket): Sink {
  let isWaiting = false
  return {
    send: (text) => {
      if (socket.readyState !== socket.OPEN) return
      socket.send(text, () => {
        // Only a client that was behind has to hear that it may go on. A ping may be all that is left unsent.
        if (!isWaiting || socket.bufferedAmount > LOW_MARK) return
        isWaiting = false
        socket.emit('drain')
      })
      isWaiting ||= socket.bufferedAmount > 0
    },
    get buffered() {
      return socket.bufferedAmount
    },
    get taken() {
      return network.bytesWritten - network.writableLength
    },
    close: (reason) => socket.close(CLOSE[reason].code, CLOSE[reason].reason),
  }
}

const STATUS: Readonly<Record<HttpRefusal['status'], string>> = {
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  415: 'Unsupported Media Type',
  421: 'Misdirected Request',
  429: 'Too Many Requests',
}

function refuse(socket: Duplex, { message, retryAfter, status }: HttpRefusal): void {
  const body = JSON.stringify({ error: { message } })
  const headers = [
    `HTTP/1.1 ${status} ${STATUS[status]}`,
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
    ...(retryAfter === undefined ? [] : [`Retry-After: ${retryAfter}`]),
  ]
  socket.end(`${headers.join('\r\n')}\r\n\r\n${body}`)
}
