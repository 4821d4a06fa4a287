import { once } from 'node:events'
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

/** A server on 127.0.0.1 with the requests it got. */
export class RemoteServer implements AsyncDisposable {
  readonly url: string
  readonly requests: IncomingMessage[]
  readonly #server: Server

  private constructor(server: Server, requests: IncomingMessage[]) {
    this.#server = server
    this.requests = requests
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  }

  static async start(listener: RequestListener): Promise<RemoteServer> {
    const requests: IncomingMessage[] = []
    const server = createServer((request, response) => {
      requests.push(request)
      listener(request, response)
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    return new RemoteServer(server, requests)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections()
    this.#server.close()
    await once(this.#server, 'close')
  }
}

interface RemoteMessage {
  readonly id?: unknown
  readonly method: string
  readonly params?: { readonly protocolVersion?: string }
}

/** Answers like an older server over HTTP, with one tool. */
export const answering: RequestListener = (request, response) => {
  void text(request).then((body) => {
    if (request.method !== 'POST') return response.writeHead(405).end()
    const { id, method, params } = JSON.parse(body) as RemoteMessage
    if (id === undefined) return response.writeHead(202).end()
    const results: Record<string, object> = {
      initialize: {
        protocolVersion: params?.protocolVersion,
        capabilities: { tools: {} },
        serverInfo: { name: 'remote', version: '1' },
      },
      'tools/list': { tools: [{ name: 'look', inputSchema: { type: 'object' } }] },
      'tools/call': { content: [{ type: 'text', text: request.headers.authorization ?? 'nobody' }] },
    }
    const result = results[method]
    const reply = result === undefined ? { error: { code: -32601, message: 'Method not found' } } : { result }
    return response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify({ jsonrpc: '2.0', id, ...reply }))
  })
}
