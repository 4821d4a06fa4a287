import type { ClientMessage, ServerMessage } from '@inspan/protocol/wire'

/** Why a connection ended. `fatal` means that connecting again is useless. */
export interface Disconnect {
  readonly reason: string
  readonly fatal?: true
}

export interface TransportEvents {
  readonly onOpen: () => void
  readonly onMessage: (message: ServerMessage) => void
  readonly onClose: (disconnect: Disconnect) => void
}

export interface TransportConnection {
  send(message: ClientMessage): void
  close(): void
}

/** How a client reaches a server. `open` is called again after every disconnect. */
export interface Transport {
  open(events: TransportEvents): TransportConnection
  /** Sends an HTTP request to a path of the server. */
  request(path: string, init?: { readonly method?: string; readonly body?: unknown }): Promise<Response>
}

export interface WebSocketTransportOptions {
  /** `http://127.0.0.1:PORT`. */
  readonly url: string
  /** Leave it out in a browser that has the server's cookie. */
  readonly token?: string
  readonly fetch?: typeof fetch
}

const SUBPROTOCOL = 'inspan.v1'
const UNAUTHORIZED = 4001

/** Connects by WebSocket. The token travels in a header of the handshake, never in the address. */
export function webSocketTransport({ fetch: ownFetch, token, url }: WebSocketTransportOptions): Transport {
  const base = url.replace(/\/$/, '')
  const doFetch = ownFetch ?? fetch
  const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` }
  return {
    open: ({ onClose, onMessage, onOpen }) => {
      const protocols = token === undefined ? [SUBPROTOCOL] : [SUBPROTOCOL, `inspan.token.${token}`]
      const socket = new WebSocket(`${base.replace(/^http/, 'ws')}/v1/ws`, protocols)
      let isOver = false
      const over = (disconnect: Disconnect): void => {
        if (isOver) return
        isOver = true
        onClose(disconnect)
      }
      socket.addEventListener('open', onOpen)
      socket.addEventListener('message', ({ data }) => {
        if (!isOver && typeof data === 'string') onMessage(JSON.parse(data) as ServerMessage)
      })
      socket.addEventListener('close', ({ code, reason }) => {
        const fatal = code === UNAUTHORIZED ? { fatal: true as const } : {}
        over({ reason: reason === '' ? `closed (${code})` : reason, ...fatal })
      })
      return {
        send: (message) => {
          if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify(message))
        },
        close: () => {
          over({ reason: 'closed by the client' })
          socket.close(1000)
        },
      }
    },
    request: (path, { body, method = body === undefined ? 'GET' : 'POST' } = {}) =>
      doFetch(`${base}${path}`, {
        method,
        credentials: 'same-origin',
        headers: { ...authorization, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      }),
  }
}
