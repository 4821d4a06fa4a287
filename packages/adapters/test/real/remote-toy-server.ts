import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'
import type { JsonObject } from '@inspan/protocol'
import type { MCPConfiguration } from '@inspan/protocol/chat'
import { asObject, asText, NO_FIELDS } from '../../src/kit/fields.ts'

export interface RemoteToyServer {
  readonly mcp: MCPConfiguration
  /** Requests without the secret. */
  readonly refused: readonly string[]
}

const SECRET = 'secret'
const PATH = '/mcp'

/** Starts the same server as `toyServer`, over HTTP, for clients that send the secret in a header. */
export async function startRemoteToyServer(t: TestContext): Promise<RemoteToyServer> {
  const refused: string[] = []
  const server = createServer((request, response) => {
    const { method = '', url, headers } = request
    if (url !== PATH) {
      response.writeHead(404).end()
      return
    }
    if (headers.authorization !== `Bearer ${SECRET}`) {
      refused.push(`${method} ${url}`)
      response.writeHead(401).end()
      return
    }
    if (method !== 'POST') {
      response.writeHead(405).end()
      return
    }
    void bodyOf(request).then((call) => {
      const { id } = call
      if (id === undefined) {
        response.writeHead(202).end()
        return
      }
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ jsonrpc: '2.0', id, ...answerTo(call) }))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  const { port } = server.address() as AddressInfo
  const url = `http://127.0.0.1:${port}${PATH}`
  return { mcp: { toy: { type: 'remote', url, headers: { Authorization: `Bearer ${SECRET}` } } }, refused }
}

async function bodyOf(request: IncomingMessage): Promise<JsonObject> {
  let text = ''
  for await (const chunk of request.setEncoding('utf8')) text += String(chunk)
  return JSON.parse(text) as JsonObject
}

function answerTo({ method, params }: JsonObject): JsonObject {
  const asked = asObject(params) ?? NO_FIELDS
  switch (method) {
    case 'initialize':
      return {
        result: {
          protocolVersion: asked['protocolVersion'] ?? '',
          capabilities: { tools: {} },
          serverInfo: { name: 'toy', version: '1.0.0' },
        },
      }
    case 'ping':
      return { result: {} }
    case 'tools/list': {
      const inputSchema = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] }
      return { result: { tools: [{ name: 'echo', description: 'Says the text again', inputSchema }] } }
    }
    case 'tools/call': {
      const said = asText(asObject(asked['arguments'])?.['text']) ?? ''
      return { result: { content: [{ type: 'text', text: `echo: ${said} over HTTP` }] } }
    }
    default:
      return { error: { code: -32601, message: 'There is no such method.' } }
  }
}
