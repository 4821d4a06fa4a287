import { once } from 'node:events'
import { chmod, rm } from 'node:fs/promises'
import { createServer, request as httpRequest, type IncomingMessage, type Server } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { getRequestListener } from '@hono/node-server'
import { servedHarness, servedProjects, type ServedHarness } from '@inspan/core/serving'
import { InspanError } from '@inspan/protocol'
import { LoginFailures } from './auth/failures.ts'
import type { Role } from './auth/identity.ts'
import { Pairing } from './auth/pairing.ts'
import { Tokens } from './auth/tokens.ts'
import { CommandExecutor } from './commands/command-executor.ts'
import type { ServerContext } from './context.ts'
import { createApp } from './http/app.ts'
import { EventStreams } from './http/event-stream.ts'
import type { GuardOptions } from './http/guard.ts'
import { Pages } from './http/pages.ts'
import { Sockets } from './http/sockets.ts'
import { Hub } from './hub.ts'
import { SharedWebhooks } from './shared-webhooks.ts'
import { Webhooks, type WebhooksOptions } from './webhooks.ts'
import { localTransport, type LocalTransport } from './local-transport.ts'
import { checkServeOptions, isLoopback, LOOPBACK, type ServeOptions } from './options.ts'

/** How long clients have to close their side when the server stops. */
const CLOSE_MS = 2000

export interface InspanServer {
  /** `http://127.0.0.1:PORT`; for a unix socket `unix:PATH`. Contains no token. */
  readonly url: string
  readonly port: number
  /** The owner's token. */
  readonly token: string
  /** Connects a client in this process without a socket: `connect({ transport: server.transport() })`. */
  transport(): LocalTransport
  /** Returns a one-time code that a browser swaps for a cookie. */
  pair(role?: Role): { readonly code: string; readonly expiresAt: number }
  /** Stops taking requests and closes all connections. Runs that wait go on waiting; the harness stays usable. */
  close(): Promise<void>
}

/** Serves a harness to any number of clients, over WebSocket, server-sent events and HTTP. */
export async function serve(options: ServeOptions): Promise<InspanServer> {
  checkServeOptions(options)
  const { folders = [], host = LOOPBACK, identify, port = 0, principal = 'owner', socketPath, tokenFile } = options
  const { otherProjects = false, projects, worktrees = false } = options
  const served = await doorOf(options)
  const door = projects === undefined ? served : servedProjects(served, projects)
  await door.ready()
  const tokens = await Tokens.open({
    principal,
    ...(options.token === undefined ? {} : { token: options.token }),
    ...(tokenFile === undefined ? {} : { path: tokenFile }),
  })
  let bound = 0
  const defaultPort = options.trustProxy === true ? ':443' : ':80'
  const hosts = (): readonly string[] =>
    [
      ...(socketPath === undefined ? ownHosts(host, bound) : ['localhost']),
      ...(options.allowedHosts ?? []).map((each) => each.toLowerCase()),
      // Browsers leave out the default port of an address.
    ].flatMap((each) => (each.endsWith(defaultPort) ? [each, each.slice(0, -defaultPort.length)] : [each]))
  const guard: GuardOptions = {
    tokens,
    failures: new LoginFailures(),
    hosts,
    origins: () => [
      ...hosts().map((each) => `http${options.trustProxy === true ? 's' : ''}://${each}`),
      ...(options.allowedOrigins ?? []).map((each) => each.toLowerCase()),
    ],
    cookie: () => `inspan_${bound}`,
    trustProxy: options.trustProxy === true,
    ...(identify === undefined ? {} : { identify }),
  }
  const webhooks =
    options.webhooks === undefined ? undefined : await startWebhooks({ ...options.webhooks, store: door.store })
  const hub = new Hub(door, webhooks)
  const pairing = new Pairing()
  const context: ServerContext = {
    hub,
    executor: new CommandExecutor(hub, { folders, worktrees }),
    guard,
    pairing,
    folders,
    worktrees,
    otherProjects,
    projects,
    locals: new Set(),
  }
  const pages = options.pages === undefined ? undefined : await Pages.open(options.pages)
  const streams = new EventStreams(context)
  const sockets = new Sockets(context, socketPath !== undefined || isLoopback(host))
  const answer = getRequestListener(createApp(context, streams, pages).fetch, { overrideGlobalObjects: false })
  // Some clients offer HTTP/2 with their first request: they are answered in HTTP/1.1, as if they had not.
  const shouldUpgradeCallback = ({ headers }: IncomingMessage): boolean => /websocket/i.test(headers.upgrade ?? '')
  const server = createServer({ shouldUpgradeCallback }, (request, response) => void answer(request, response))
  // Slow headers must not hold sockets; streams have no limit once they are open.
  server.headersTimeout = 10_000
  server.requestTimeout = 60_000
  sockets.attach(server)
  try {
    await listen(server, socketPath === undefined ? { host, port } : { path: socketPath })
  } catch (error) {
    streams.close()
    sockets.close()
    await hub.close()
    await webhooks?.close()
    throw error
  }
  if (socketPath !== undefined) await chmod(socketPath, 0o600)
  // In the background: clients need not wait for the runs of others.
  const recovered = hub.recover().catch(() => undefined)
  const address = server.address()
  bound = typeof address === 'object' && address !== null ? address.port : 0
  let closing: Promise<void> | undefined
  const close = async (): Promise<void> => {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()))
    for (const connection of context.locals) connection.close('shutdown')
    streams.close()
    sockets.close()
    server.closeIdleConnections()
    const timer = setTimeout(() => {
      sockets.terminate()
      server.closeAllConnections()
    }, CLOSE_MS)
    await closed
    clearTimeout(timer)
    await recovered
    await hub.close()
    await webhooks?.close()
    if (socketPath !== undefined) await rm(socketPath, { force: true })
  }
  const url =
    socketPath === undefined ? `http://${host.includes(':') ? `[${host}]` : host}:${bound}` : `unix:${socketPath}`
  const request: LocalTransport['request'] = (path, { body, method = body === undefined ? 'GET' : 'POST' } = {}) => {
    const headers = { authorization: `Bearer ${tokens.token}`, 'content-type': 'application/json' }
    const text = body === undefined ? undefined : JSON.stringify(body)
    if (socketPath !== undefined) return requestOverSocket(socketPath, path, { method, headers, body: text })
    return fetch(`${url}${path}`, { method, headers, ...(text === undefined ? {} : { body: text }) })
  }
  return {
    url,
    transport: () => localTransport(context, { principal, role: 'drive' }, request),
    port: bound,
    token: tokens.token,
    pair: (role = 'drive') => pairing.create(role),
    close: () => (closing ??= close()),
  }
}

/** `fetch` for a unix socket, which `fetch` itself cannot reach. */
async function requestOverSocket(
  socketPath: string,
  path: string,
  { body, headers, method }: { method: string; headers: Record<string, string>; body: string | undefined },
): Promise<Response> {
  const asked = httpRequest({ socketPath, path, method, headers: { ...headers, host: 'localhost' } })
  asked.end(body)
  const [answer] = (await once(asked, 'response')) as [IncomingMessage]
  const bytes = await buffer(answer)
  const type = answer.headers['content-type']
  return new Response(bytes.length === 0 ? null : new Uint8Array(bytes), {
    status: answer.statusCode ?? 500,
    ...(type === undefined ? {} : { headers: { 'content-type': type } }),
  })
}

/** On a store that several machines share, so is what is to be sent. */
async function startWebhooks(options: WebhooksOptions): Promise<Webhooks | SharedWebhooks> {
  const { outbox } = options.store
  return outbox === undefined ? Webhooks.start(options) : new SharedWebhooks(options, outbox)
}

/** The SDK is loaded only where a manager is served. */
async function doorOf({ harness, manager }: ServeOptions): Promise<ServedHarness> {
  if (manager !== undefined) return (await import('@inspan/sdk/serving')).servedManager(manager)
  if (harness !== undefined) return servedHarness(harness)
  throw new InspanError('invalid-input', '`serve` needs either a `harness` or a `manager`.')
}

/** The names under which the server itself can be reached. A wildcard address is no name: it needs `allowedHosts`. */
function ownHosts(host: string, port: number): readonly string[] {
  const names = isLoopback(host) ? ['127.0.0.1', 'localhost', '[::1]', host] : [host.includes(':') ? `[${host}]` : host]
  return [...new Set(names)].map((name) => `${name}:${port}`)
}

function listen(server: Server, where: { host: string; port: number } | { path: string }): Promise<void> {
  return new Promise((resolve, reject) => {
    const failed = (error: NodeJS.ErrnoException): void => {
      const place = 'path' in where ? where.path : `${where.host}:${where.port}`
      const hint = error.code === 'EADDRINUSE' ? 'Use `port: 0` for any free port.' : undefined
      reject(
        new InspanError('io', `The server cannot listen on ${place}: ${error.code ?? error.message}.`, {
          cause: error,
          ...(hint === undefined ? {} : { hint }),
        }),
      )
    }
    server.once('error', failed)
    server.listen(where, () => {
      server.off('error', failed)
      resolve()
    })
  })
}
