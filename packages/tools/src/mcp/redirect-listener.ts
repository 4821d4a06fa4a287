import { timingSafeEqual } from 'node:crypto'
import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { InspanError } from '@inspan/protocol'

/** How long a person has to agree. */
const PATIENCE_MS = 10 * 60_000

/** Waits on 127.0.0.1 for the browser that comes back from an authorization. */
export class RedirectListener {
  readonly #server: Server
  readonly #onEnd: (error?: Error) => void
  readonly #timer: NodeJS.Timeout
  #isOver = false

  private constructor(server: Server, onEnd: (error?: Error) => void) {
    this.#server = server
    this.#onEnd = onEnd
    this.#timer = setTimeout(() => this.#end(new InspanError('expired', 'Nobody agreed in time.')), PATIENCE_MS)
    this.#timer.unref()
  }

  /** Returns a port of 127.0.0.1 that is free now. */
  static async freePort(): Promise<number> {
    const { createServer } = await import('node:http')
    const server = createServer()
    await listen(server, 0)
    const { port } = server.address() as AddressInfo
    server.close()
    await once(server, 'close')
    return port
  }

  static async open(
    { port, state }: { readonly port: number; readonly state: string },
    onCallback: (params: URLSearchParams) => Promise<void>,
    onEnd: (error?: Error) => void,
  ): Promise<RedirectListener> {
    const { createServer } = await import('node:http')
    const server = createServer()
    await listen(server, port)
    // It must not keep the program from ending.
    server.unref()
    const listener = new RedirectListener(server, onEnd)
    server.on('request', (request, response) => {
      const url = new URL(request.url ?? '/', 'http://127.0.0.1')
      const reply = (status: number, text: string): void => {
        response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8', connection: 'close' }).end(text)
      }
      if (request.method !== 'GET' || url.pathname !== '/callback') return reply(404, 'There is nothing here.')
      // Anybody can send a browser here; only the one we sent out knows the state.
      if (!isSame(url.searchParams.get('state'), state)) return reply(400, 'This belongs to no authorization.')
      void onCallback(url.searchParams).then(
        () => {
          reply(200, 'Done. You can close this window.')
          listener.#end()
        },
        (error: unknown) => {
          reply(400, 'The authorization failed. Start it again in the program you came from.')
          listener.#end(error instanceof Error ? error : new Error(String(error)))
        },
      )
    })
    return listener
  }

  async close(): Promise<void> {
    this.#end()
  }

  #end(error?: Error): void {
    if (this.#isOver) return
    this.#isOver = true
    clearTimeout(this.#timer)
    this.#server.close()
    this.#onEnd(error)
  }
}

function isSame(given: string | null, expected: string): boolean {
  const [a, b] = [Buffer.from(given ?? ''), Buffer.from(expected)]
  return a.length === b.length && timingSafeEqual(a, b)
}

async function listen(server: Server, port: number): Promise<void> {
  try {
    const listening = once(server, 'listening')
    server.listen(port, '127.0.0.1')
    await listening
  } catch (error) {
    throw new InspanError('io', `Port ${port} of 127.0.0.1 is not free for the answer of the authorization.`, {
      cause: error,
    })
  }
}
