import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response'
import { InspanError, type JsonObject } from '@inspan/protocol'
import { describeIssues } from '@inspan/protocol/internal'
import { LIMITS, schemas } from '@inspan/protocol/schema'
import { WIRE_VERSION, type ReceiptMessage } from '@inspan/protocol/wire'
import { Hono } from 'hono'
import { ROLES, type Role } from '../auth/identity.ts'
import type { ServerContext } from '../context.ts'
import type { EventStreams } from './event-stream.ts'
import { readCommand } from '../connection/read-command.ts'
import { addAiRoutes } from './ai-routes.ts'
import { addressOf, checkSource, identifyCaller } from './guard.ts'
import { headOfStream, MAX_OPEN_BODY, readBody, requireOwner, requireRole, type App, type AppEnv } from './app-types.ts'
import { addOverviewRoutes } from './overview-routes.ts'
import { guardedRoutes, openApi, roleOfRoute } from './openapi.ts'
import type { Pages } from './pages.ts'
import { addOperationRoutes } from './operation-routes.ts'
import { addReadRoutes } from './read-routes.ts'
import { addThreadRoutes } from './thread-routes.ts'

const OPENAPI_VERSION = '1'

/** The only routes that answer without a token. */
export const OPEN_ROUTES: readonly string[] = ['POST /v1/pair', 'GET /v1/health', 'GET /v1/ready']

/** Answer under any name: probes ask by the address of a machine or of its container, and learn one word. */
const PROBES: ReadonlySet<string> = new Set(['GET /v1/health', 'GET /v1/ready'])

export function createApp(context: ServerContext, streams: EventStreams, pages?: Pages): App {
  const app: App = new Hono<AppEnv>()
  // At the root, so that no route can be outside it.
  app.use('*', async (c, next) => {
    const request = c.env.incoming
    c.header('x-content-type-options', 'nosniff')
    c.header('cache-control', 'no-store')
    const route = `${c.req.method} ${c.req.path}`
    const source = checkSource(request, context.guard, PROBES.has(route))
    if (source !== undefined) return c.json({ error: { message: source.message } }, source.status)
    const page = await pages?.answer(c.req.method, c.req.path)
    if (page !== undefined) return page
    if (OPEN_ROUTES.includes(route)) return next()
    const { caller, refusal } = await identifyCaller(request, context.guard)
    if (caller === undefined) {
      if (refusal?.retryAfter !== undefined) c.header('retry-after', String(refusal.retryAfter))
      return c.json({ error: { message: refusal?.message ?? 'A valid token is needed.' } }, refusal?.status ?? 401)
    }
    c.set('caller', caller)
    return next()
  })
  // Before the routes themselves, so that none can forget its role.
  for (const { method, path, role } of guardedRoutes()) {
    app.on(method, path, async (c, next) => {
      requireRole(c.get('caller'), role)
      return next()
    })
  }
  app.onError((error, c) => {
    const { body, status } = errorAnswer(error)
    return c.json(body, status)
  })
  app.notFound((c) => c.json({ error: { message: 'There is no such route.', code: 'not-found' } }, 404))
  let description: JsonObject | undefined
  app.get('/v1/openapi.json', (c) => c.json((description ??= openApi(OPENAPI_VERSION))))
  addCommandRoutes(app, context, streams)
  addPairingRoutes(app, context)
  addThreadRoutes(app, context)
  addReadRoutes(app, context)
  addOverviewRoutes(app, context)
  addOperationRoutes(app, context)
  addAiRoutes(app, context, streams)
  // A route that is not described has no role, so it must not exist.
  for (const { method, path } of app.routes) if (method !== 'ALL') roleOfRoute(method, path)
  return app
}

function addCommandRoutes(app: App, context: ServerContext, streams: EventStreams): void {
  app.get('/v1/events', async (c) => {
    const head = headOfStream(c)
    if (head !== undefined) return head
    const thread = c.req.query('thread')
    const window = Number(c.req.query('window'))
    const lastEventId = c.req.header('last-event-id')
    await streams.serve(
      {
        caller: c.get('caller'),
        clientId: clientIdOf(c.req.query('client') ?? 'events'),
        isSeed: c.req.query('protocol') === '0',
        ...(thread === undefined ? {} : { thread }),
        ...(lastEventId === undefined ? {} : { lastEventId }),
        ...(Number.isInteger(window) && window > 0 ? { window } : {}),
      },
      c.env.outgoing,
    )
    return RESPONSE_ALREADY_SENT
  })
  app.post('/v1/commands', async (c) => {
    const caller = c.get('caller')
    const body = await readBody(c)
    const { clientId: client, commands } = body as { clientId?: unknown; commands?: unknown }
    const clientId = client === undefined ? undefined : clientIdOf(client)
    if (!Array.isArray(commands) || commands.length > LIMITS.commands) {
      throw new InspanError('invalid-input', `"commands" has to be an array of at most ${LIMITS.commands}.`)
    }
    const receipts: ReceiptMessage[] = []
    for (const given of commands as readonly unknown[]) {
      const { command, refusal } = readCommand(given)
      if (command === undefined) {
        receipts.push({ type: 'receipt', id: refusal.id ?? '', ...refusal.outcome })
        continue
      }
      const thread = command.thread ?? (await context.hub.defaultThread(caller))
      receipts.push(await context.executor.carryOut({ ...command, thread }, caller, clientId))
    }
    return c.json({ receipts }, 202)
  })
}

function clientIdOf(id: unknown): string {
  const hello = schemas.ClientHello.safeParse({ type: 'hello', protocol: WIRE_VERSION, clientId: id })
  if (hello.success) return hello.data.clientId
  throw new InspanError('invalid-input', `The id of the client is invalid: ${describeIssues(hello.error.issues)}.`)
}

function addPairingRoutes(app: App, { guard, pairing }: ServerContext): void {
  app.post('/v1/pair', async (c) => {
    const request = c.env.incoming
    const address = addressOf(request, guard.trustProxy)
    const lockedFor = guard.failures.lockedFor(address)
    if (lockedFor > 0) {
      c.header('retry-after', String(lockedFor))
      return c.json({ error: { message: 'Too many wrong codes. Try again later.' } }, 429)
    }
    const { code, name } = (await readBody(c, MAX_OPEN_BODY)) as { code?: unknown; name?: unknown }
    const role = typeof code === 'string' ? pairing.redeem(code) : undefined
    if (role === undefined) {
      guard.failures.note(address, JSON.stringify({ code }))
      return c.json({ error: { message: 'The code is wrong, used or too old.' } }, 401)
    }
    const label = typeof name === 'string' && name !== '' ? name.slice(0, LIMITS.name) : 'browser'
    const { token, info } = await guard.tokens.add({ name: label, role })
    const secure = guard.trustProxy ? '; Secure' : ''
    c.header('set-cookie', `${guard.cookie()}=${token}; HttpOnly; SameSite=Strict; Path=/; Max-Age=31536000${secure}`)
    return c.json({ token: info })
  })
  app.post('/v1/pair/codes', async (c) => {
    requireOwner(c.get('caller'))
    const { role = 'drive' } = (await readBody(c)) as { role?: Role }
    if (!ROLES.includes(role)) throw new InspanError('invalid-input', `The role has to be one of ${ROLES.join(', ')}.`)
    return c.json(pairing.create(role), 201)
  })
  app.get('/v1/tokens', (c) => {
    requireOwner(c.get('caller'))
    return c.json({ tokens: guard.tokens.list() })
  })
  app.delete('/v1/tokens/:id', async (c) => {
    requireOwner(c.get('caller'))
    const isRevoked = await guard.tokens.revoke(c.req.param('id'))
    if (!isRevoked) throw new InspanError('not-found', 'There is no such token.')
    return c.body(null, 204)
  })
}

type Status = 400 | 403 | 404 | 409 | 413 | 429 | 500 | 501 | 503

const STATUS: Readonly<Partial<Record<string, Status>>> = {
  'invalid-input': 400,
  misuse: 409,
  'not-found': 404,
  'already-exists': 409,
  held: 409,
  conflict: 409,
  'quota-exceeded': 429,
  unsupported: 501,
  closed: 503,
}

function errorAnswer(error: unknown): { body: object; status: Status } {
  if (!InspanError.is(error)) return { body: { error: { message: 'The server failed.', code: 'io' } }, status: 500 }
  const { status } = error.details as { status?: Status }
  return { body: { error: { message: error.message, code: error.code } }, status: status ?? STATUS[error.code] ?? 500 }
}
