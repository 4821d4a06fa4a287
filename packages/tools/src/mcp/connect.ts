import type { Client, ClientOptions, OAuthClientProvider, Transport } from '@modelcontextprotocol/client'
import type { MCPServerConfig } from '@inspan/protocol/chat'
import { limitedFetch } from './limited-fetch.ts'
import type { McpLibrary } from './load-client.ts'
import { reconnectionOf } from './server-config.ts'
import { MAX_MESSAGE_BYTES, StdioTransport } from './stdio-transport.ts'

const CLIENT = { name: 'inspan', version: '0.1.0' }

/** A local server that does not answer this long is taken for an older one. */
const PROBE_MS = 3_000

export interface McpConnectOptions {
  readonly config: MCPServerConfig
  readonly library: McpLibrary
  readonly timeoutMs: number
  readonly signal: AbortSignal
  readonly cwd?: string
  readonly auth?: OAuthClientProvider
  /** Sets up a client before it connects. */
  readonly prepare: (client: Client) => void
  readonly onToolsChanged: () => void
}

export interface ConnectedServer {
  readonly client: Client
  readonly transport: Transport
}

/** Connects by the newest revision of the protocol that the server knows. Nothing stays open after a failure. */
export async function connect(options: McpConnectOptions): Promise<ConnectedServer> {
  return options.config.type === 'stdio' ? connectStdio(options) : connectRemote(options)
}

async function connectStdio(options: McpConnectOptions): Promise<ConnectedServer> {
  const { config } = options
  if (config.type !== 'stdio') throw new TypeError('not a stdio server')
  try {
    return await attempt(options, new StdioTransport(config, options.cwd))
  } catch (error) {
    // Some older servers end when they are asked for something before their handshake.
    if (!isClosedByProbe(error)) throw error
    return attempt(options, new StdioTransport(config, options.cwd), 'legacy')
  }
}

async function connectRemote(options: McpConnectOptions): Promise<ConnectedServer> {
  const { auth, config, library } = options
  if (config.type !== 'remote') throw new TypeError('not a remote server')
  const url = new URL(config.url)
  const common = {
    requestInit: { headers: { ...config.headers } },
    fetch: limitedFetch(MAX_MESSAGE_BYTES),
    ...(auth === undefined ? {} : { authProvider: auth }),
  }
  const streamable = new library.StreamableHTTPClientTransport(url, {
    ...common,
    reconnectionOptions: reconnectionOf(config),
  })
  try {
    return await attempt(options, streamable)
  } catch (error) {
    if (!isOtherTransport(error)) throw error
    try {
      return await attempt(options, new library.SSEClientTransport(url, common), 'legacy')
    } catch {
      // The server speaks neither; what it said first is more telling.
      throw error
    }
  }
}

async function attempt(options: McpConnectOptions, transport: Transport, era?: 'legacy'): Promise<ConnectedServer> {
  const { library, onToolsChanged, prepare, signal, timeoutMs } = options
  const settings: ClientOptions = {
    capabilities: { elicitation: { form: {}, url: {} } },
    versionNegotiation: {
      mode: 'auto',
      ...(transport instanceof StdioTransport ? { probe: { timeoutMs: Math.min(PROBE_MS, timeoutMs / 2) } } : {}),
    },
    inputRequired: { autoFulfill: false },
    listChanged: { tools: { autoRefresh: false, debounceMs: 0, onChanged: onToolsChanged } },
  }
  const client = new library.Client(CLIENT, settings)
  prepare(client)
  const stop = (): void => void transport.close().catch(() => undefined)
  signal.addEventListener('abort', stop, { once: true })
  try {
    signal.throwIfAborted()
    await client.connect(transport, {
      timeout: timeoutMs,
      signal,
      ...(era === undefined ? {} : { prior: { kind: era } }),
    })
    return { client, transport }
  } catch (error) {
    await client.close().catch(() => undefined)
    await transport.close().catch(() => undefined)
    signal.throwIfAborted()
    throw error
  } finally {
    signal.removeEventListener('abort', stop)
  }
}

function isClosedByProbe(error: unknown): boolean {
  return error instanceof Error && /connection closed during the server\/discover probe/.test(error.message)
}

/** Servers that only know events over GET refuse our POST in one of these ways. */
function isOtherTransport(error: unknown): boolean {
  const { data } = error as { data?: { status?: unknown } }
  return [400, 404, 405, 406, 415].includes(Number(data?.status))
}
