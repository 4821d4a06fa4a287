import type { ClientMessage, ServerMessage } from '@inspan/protocol/wire'
import { ServedConnection } from './connection/connection.ts'
import type { ServerContext } from './context.ts'
import type { Caller } from './http/guard.ts'

/** A client counts a silent connection as lost, also one without a network. */
const HEARTBEAT_MS = 15_000

/** What `connect({ transport })` of `@inspan/client` takes. */
export interface LocalTransport {
  open(events: {
    readonly onOpen: () => void
    readonly onMessage: (message: ServerMessage) => void
    readonly onClose: (disconnect: { readonly reason: string }) => void
  }): { send(message: ClientMessage): void; close(): void }
  request(path: string, init?: { readonly method?: string; readonly body?: unknown }): Promise<Response>
}

/** Connects a client in the same process, without a socket. It gets the same messages as any other. */
export function localTransport(
  context: ServerContext,
  caller: Caller,
  request: LocalTransport['request'],
): LocalTransport {
  return {
    request,
    open: ({ onClose, onMessage, onOpen }) => {
      let isOpen = true
      const end = (reason: string): void => {
        if (!isOpen) return
        isOpen = false
        clearInterval(heartbeat)
        onClose({ reason })
      }
      const connection = new ServedConnection(context.hub, context.executor, caller, {
        buffered: 0,
        taken: 0,
        // Parsed anew, so that neither side can change what the other holds.
        send: (text) =>
          queueMicrotask(() => {
            if (isOpen) onMessage(JSON.parse(text) as ServerMessage)
          }),
        close: (reason) => queueMicrotask(() => end(reason)),
      })
      const heartbeat = setInterval(() => connection.ping(), HEARTBEAT_MS)
      heartbeat.unref()
      context.locals.add(connection)
      queueMicrotask(onOpen)
      return {
        send: (message) => {
          if (isOpen) connection.receive(JSON.stringify(message))
        },
        close: () => {
          context.locals.delete(connection)
          connection.ended()
          end('closed by the client')
        },
      }
    },
  }
}
