import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { JsonObject, JsonValue } from '@inspan/protocol'
import type { McpToolInfo } from '@inspan/protocol/chat'
import type { RunnableTool } from '@inspan/protocol/driver'

const SERVER = fileURLToPath(new URL('mcp-server.fixture.ts', import.meta.url))

export interface ServerOptions {
  readonly journal: string
  readonly description?: string
  readonly serverName?: string
  /** The server kills this process when one of its tools is called. */
  readonly isDeadly?: boolean
}

/** Starts a server process and offers its tools as the engine carries them out. */
export class McpClient implements AsyncDisposable {
  readonly #process
  readonly #answers = new Map<number, (result: JsonObject) => void>()
  #ids = 0
  tools: readonly RunnableTool[] = []

  private constructor({ description = 'Keeps notes.', isDeadly = false, journal }: ServerOptions) {
    const args = [SERVER, journal, description, ...(isDeadly ? ['kill'] : [])]
    this.#process = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] })
    createInterface({ input: this.#process.stdout }).on('line', (line) => {
      const { id, result } = JSON.parse(line) as { id: number; result: JsonObject }
      this.#answers.get(id)?.(result)
    })
  }

  static async start(options: ServerOptions): Promise<McpClient> {
    const { serverName = 'notes' } = options
    const client = new McpClient(options)
    await client.#ask('initialize', { protocolVersion: '2025-06-18', capabilities: {} })
    const { tools } = (await client.#ask('tools/list', {})) as unknown as { tools: McpToolInfo[] }
    client.tools = tools.map(({ annotations, description = '', inputSchema = {}, name }) => ({
      name,
      description,
      inputSchema: inputSchema as JsonObject,
      serverName,
      ...(annotations === undefined ? {} : { annotations }),
      execute: async (input) => ({
        result: (await client.#ask('tools/call', { name, arguments: input })) as JsonValue,
      }),
    }))
    return client
  }

  #ask(method: string, params: JsonObject): Promise<JsonObject> {
    const id = ++this.#ids
    const { promise, resolve } = Promise.withResolvers<JsonObject>()
    this.#answers.set(id, resolve)
    this.#process.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`)
    return promise
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = once(this.#process, 'close')
    this.#process.stdin.end()
    await closed
  }
}
