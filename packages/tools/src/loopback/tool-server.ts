import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { JsonObject, JsonValue } from '@inspan/protocol'
import type { HostTool, ToolOutcome } from '@inspan/protocol/driver'

const MAX_BODY_BYTES = 8 * 1024 * 1024
/** How long the result of a call that changed the list waits for the program to read the list again. */
const LISTED_AGAIN_MS = 1_000
/** A call may wait for people for days, and nothing in between may take the silence for an end. */
const KEEP_ALIVE_MS = 15_000
const REVISIONS = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05']
const [NEWEST = ''] = REVISIONS

/** A call of one of our tools by a program. */
export interface ServedCall {
  readonly name: string
  readonly args: JsonObject
  /** The program's own id of the call, if it sends one. */
  readonly callId?: string
}

/** Whose tools are served to whoever has the token. */
export interface ServedTools {
  list(): Promise<readonly HostTool[]>
  call(call: ServedCall): Promise<ToolOutcome>
}

export interface ServedAccess {
  readonly url: string
  readonly token: string
  /** Nobody can use the token any more. */
  revoke(): void
}

/** What is served with one token, and what the program knows of it. */
interface Service {
  readonly tools: ServedTools
  /** The names that the program was given last, or told to ask for. */
  listed?: readonly string[]
  onListed?: () => void
}

interface RpcMessage {
  readonly id?: string | number
  readonly method?: string
  readonly params?: JsonObject
}

/**
 * Serves tools over MCP to programs of this machine: one listener on 127.0.0.1 for the whole process, and a token for
 * each turn. It listens while there are tokens.
 */
class LoopbackServer {
  readonly #served = new Map<string, Service>()
  #server: Promise<Server> | undefined

  async serve(tools: ServedTools): Promise<ServedAccess> {
    const token = randomBytes(32).toString('base64url')
    const key = keyOf(token)
    this.#served.set(key, { tools })
    this.#server ??= listen((request, response) => void this.#answer(request, response))
    const { port } = (await this.#server).address() as AddressInfo
    return { url: `http://127.0.0.1:${port}/mcp`, token, revoke: () => void this.#revoke(key) }
  }

  async #revoke(key: string): Promise<void> {
    this.#served.delete(key)
    if (this.#served.size > 0) return
    const server = this.#server
    this.#server = undefined
    const listening = await server
    // What is still being answered belongs to a program that is gone.
    listening?.close()
    listening?.closeAllConnections()
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const refuse = (status: number): void => void response.writeHead(status, { connection: 'close' }).end()
    const { authorization = '', host = '', origin } = request.headers
    // A page in a browser reaches 127.0.0.1 too, under a name of its own.
    if (origin !== undefined || !/^(127\.0\.0\.1|localhost):\d+$/.test(host)) return refuse(403)
    const service = this.#served.get(keyOf(authorization.replace(/^Bearer /i, '')))
    if (service === undefined) return refuse(401)
    if (request.method !== 'POST') return refuse(405)
    const body = await bodyOf(request)
    if (body === undefined) return refuse(413)
    const message = parsed(body)
    if (message === undefined) return refuse(400)
    if (message.id === undefined) return void response.writeHead(202).end()
    const stream = openStream(response)
    try {
      const result = await resultOf(message, service)
      if (message.method === 'tools/call' && !(await announceChange(service, stream))) addNote(result)
      if (message.method === 'tools/list') response.once('finish', () => service.onListed?.())
      stream.send({ id: message.id, result })
    } catch (error) {
      const { code = -32_603, message: words = '' } = error as { code?: unknown; message?: string }
      stream.send({ id: message.id, error: { code: typeof code === 'number' ? code : -32_603, message: words } })
    }
  }
}

/** The listener of this process. */
export const loopbackServer: LoopbackServer = new LoopbackServer()

/**
 * A call may change what is offered: a search for tools loads them. The program learns of it before the result, so that
 * its model finds the new tools in its next step. Returns false if the program has not read the list again.
 */
async function announceChange(service: Service, stream: EventStream): Promise<boolean> {
  const { listed, tools } = service
  // The call is over, whatever became of the turn meanwhile.
  const offered = await tools.list().catch(() => undefined)
  if (listed === undefined || offered === undefined || sameNames(listed, offered)) return true
  // Each change is announced once.
  service.listed = offered.map(({ name }) => name)
  const again = Promise.withResolvers<boolean>()
  service.onListed = () => again.resolve(true)
  stream.notify({ method: 'notifications/tools/list_changed' })
  const timer = setTimeout(() => again.resolve(false), LISTED_AGAIN_MS)
  try {
    return await again.promise
  } finally {
    clearTimeout(timer)
  }
}

/** Codex reads the list only when it starts, which it does for every turn. */
function addNote(result: JsonObject): void {
  const { content } = result
  if (!Array.isArray(content)) return
  content.push({
    type: 'text',
    text: 'Your list of tools has changed. What is not in it yet is there in your next turn.',
  })
}

function sameNames(listed: readonly string[], tools: readonly HostTool[]): boolean {
  return listed.length === tools.length && tools.every(({ name }, index) => name === listed[index])
}

async function resultOf({ method, params = {} }: RpcMessage, service: Service): Promise<JsonObject> {
  const { tools } = service
  switch (method) {
    case 'initialize': {
      const { protocolVersion } = params
      const isKnown = typeof protocolVersion === 'string' && REVISIONS.includes(protocolVersion)
      return {
        protocolVersion: isKnown ? protocolVersion : NEWEST,
        capabilities: { tools: { listChanged: true } },
        serverInfo: { name: 'inspan', version: '0.1.0' },
      }
    }
    case 'ping':
      return {}
    case 'tools/list': {
      const offered = await tools.list()
      service.listed = offered.map(({ name }) => name)
      return { tools: offered.map(listed) }
    }
    case 'tools/call': {
      const { arguments: args = {}, _meta: meta = {}, name } = params
      if (typeof name !== 'string') throw Object.assign(new Error('A call needs a name.'), { code: -32_602 })
      const callId = (meta as JsonObject)['claudecode/toolUseId']
      const call = { name, args: args as JsonObject, ...(typeof callId === 'string' ? { callId } : {}) }
      return contentOf(await tools.call(call))
    }
    default:
      throw Object.assign(new Error('Method not found'), { code: -32_601 })
  }
}

function listed({ annotations, description, inputSchema, name }: HostTool): JsonObject {
  return {
    name,
    ...(description === undefined ? {} : { description }),
    inputSchema: { type: 'object', ...inputSchema },
    ...(annotations === undefined ? {} : { annotations: { ...annotations } }),
  }
}

function contentOf({ isError, modelOutput, result }: ToolOutcome): JsonObject {
  const content: JsonObject[] =
    modelOutput?.type === 'content'
      ? modelOutput.value.map((part) => {
          if (part.type === 'text') return { type: 'text', text: part.text }
          if (part.mediaType.startsWith('image/')) return { type: 'image', data: part.data, mimeType: part.mediaType }
          const uri = `file:///${encodeURIComponent(part.fileName ?? 'file')}`
          return { type: 'resource', resource: { uri, mimeType: part.mediaType, blob: part.data } }
        })
      : [{ type: 'text', text: textOf(modelOutput?.value ?? result) }]
  return { content, ...(isError === true ? { isError } : {}) }
}

function textOf(value: JsonValue): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

interface EventStream {
  notify(message: object): void
  /** Sends the answer, which is the last message. */
  send(message: object): void
}

/** Answers with a stream of events, because the headers have to leave before the result is there. */
function openStream(response: ServerResponse): EventStream {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' })
  response.flushHeaders()
  const timer = setInterval(() => response.write(': waiting\n\n'), KEEP_ALIVE_MS)
  timer.unref()
  response.on('close', () => clearInterval(timer))
  response.on('error', () => undefined)
  return {
    notify: (message) => void response.write(eventOf(message)),
    send: (message) => void response.end(eventOf(message)),
  }
}

function eventOf(message: object): string {
  return `event: message\ndata: ${JSON.stringify({ jsonrpc: '2.0', ...message })}\n\n`
}

async function bodyOf(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > MAX_BODY_BYTES) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function parsed(body: string): RpcMessage | undefined {
  try {
    const message: unknown = JSON.parse(body)
    return typeof message === 'object' && message !== null && !Array.isArray(message) ? message : undefined
  } catch {
    return undefined
  }
}

/** Tokens are found by their hash, so that the time it takes tells nothing about them. */
function keyOf(token: string): string {
  return createHash('sha256').update(token).digest('hex')
}

async function listen(onRequest: (request: IncomingMessage, response: ServerResponse) => void): Promise<Server> {
  const { createServer } = await import('node:http')
  const server = createServer({ requestTimeout: 0, headersTimeout: 60_000 }, onRequest)
  const listening = once(server, 'listening')
  server.listen(0, '127.0.0.1')
  await listening
  // It must not keep the program from ending.
  server.unref()
  return server
}
