import type { Transport, TransportConnection } from '@inspan/client'

/** A way to a server that is still starting, so that the screen can be shown before it is there. */
export function deferredTransport(opening: Promise<Transport>): Transport {
  return {
    request: async (path, init) => (await opening).request(path, init),
    open: (events) => {
      let connection: TransportConnection | undefined
      let isClosed = false
      opening.then(
        (transport) => {
          if (!isClosed) connection = transport.open(events)
        },
        (error: unknown) =>
          events.onClose({ reason: error instanceof Error ? error.message : String(error), fatal: true }),
      )
      return {
        send: (message) => connection?.send(message),
        close: () => {
          isClosed = true
          connection?.close()
        },
      }
    },
  }
}
