import { chmod, rm } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import { getRequestListener } from '@hono/node-server'
import { servedHarness, type ServedHarness } from '@inspan/core/serving'
import { InspanError } from '@inspan/protocol'
import { Failures } from './auth/failures.ts'
import type { Role } from './auth/identity.ts'
import { Pairing } from './auth/pairing.ts'
import { Tokens } from './auth/tokens.ts'
import { CommandDesk } from './commands/command-desk.ts'
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
  const door = await doorOf(options)
  await door.ready()
  const tokens = await Tokens.open({
    principal,
    ...(options.token === undefined ? {} : { token: options.token }),
    ...(tokenFile === undefined ? {} : { path: tokenFile }),
  })
  let bound = 0
  const hosts = (): readonly string[] => [
    ...(socketPath === undefined ? ownHosts(host, bound) : ['localhost']),
    ...(options.allowedHosts ?? []).map((each) => each.toLowerCase()),
  ]
  const guard: GuardOptions = {
    tokens,
    failures: new Failures(),
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
    desk: new CommandDesk(hub, folders),
    guard,
    pairing,
    folders,
    locals: new Set(),
  }
  const pages = options.pages === undefined ? undefined : await Pages.open(options.pages)
  const streams = new EventStreams(context)
  const sockets = new Sockets(context, socketPath !== undefined || isLoopback(host))
  const answer = getRequestListener(createApp(context, streams, pages).fetch, { overrideGlobalObjects: false })
  const server = createServer((request, response) => void answer(request, response))
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
  const request: LocalTransport['request'] = (path, { body, method = body === undefined ? 'GET' : 'POST' } = {}) =>
    fetch(`${url}${path}`, {
      method,
      headers: { authorization: `Bearer ${tokens.token}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
  return {
    url,
    transport: () => localTransport(context, { principal, role: 'drive' }, request),
    port: bound,
    token: tokens.token,
    pair: (role = 'drive') => pairing.create(role),
    close: () => (closing ??= close()),
  }
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
