import { InspanError, type JsonObject, type JsonValue } from '@inspan/protocol'
import { jsonSchemaOf, LIMITS, type SchemaName } from '@inspan/protocol/schema'
import { ROLES, type Role } from '../auth/identity.ts'

interface RouteFacts {
  readonly summary: string
  /** Who may use it; `open` answers without a token. */
  readonly role: Role | 'open'
  readonly query?: Readonly<Record<string, string>>
  readonly body?: JsonObject
  readonly status?: number
  /** The body of the answer. */
  readonly answer?: JsonObject
  /** Default: JSON. */
  readonly type?: string
}

const text = { type: 'string' } as const
const flag = { type: 'boolean' } as const

function fields(properties: JsonObject, required: readonly string[] = []): JsonObject {
  return { type: 'object', properties, required: [...required] }
}

function listOf(items: JsonObject): JsonObject {
  return { type: 'array', items }
}

/** A type of the protocol, by its name among the components of the document. */
function named(name: SchemaName): JsonObject {
  return { $ref: `${COMPONENTS}${name}` }
}

const COMPONENTS = '#/components/schemas/'

/** Every route of a server. One that is missing here cannot be registered. */
const ROUTES: Readonly<Record<string, RouteFacts>> = {
  'GET /v1/openapi.json': { summary: 'This document', role: 'view' },
  'GET /v1/events': {
    summary: 'Follows a thread as server-sent events; continues after Last-Event-ID',
    role: 'view',
    query: {
      thread: 'The thread. Default: the newest one',
      client: 'The id of the client',
      window: 'How many of the newest messages to send',
      protocol: '0 for the whole state first, then deltas with indexes',
    },
    type: 'text/event-stream',
  },
  'POST /v1/commands': {
    summary: 'Carries out commands in order and returns their receipts. Each command needs its own role',
    role: 'view',
    body: fields({ clientId: text, commands: { ...listOf(named('Command')), maxItems: LIMITS.commands } }, [
      'commands',
    ]),
    answer: fields({ receipts: listOf(named('ReceiptMessage')) }, ['receipts']),
    status: 202,
  },
  'POST /v1/pair': {
    summary: 'Swaps a one-time code for a cookie',
    role: 'open',
    body: fields({ code: text, name: text }, ['code']),
  },
  'POST /v1/pair/codes': {
    summary: 'Makes a one-time code',
    role: 'drive',
    body: fields({ role: { enum: [...ROLES] } }),
    status: 201,
  },
  'GET /v1/tokens': { summary: 'Lists the tokens, without the tokens themselves', role: 'drive' },
  'DELETE /v1/tokens/:id': { summary: 'Revokes a token and ends its connections', role: 'drive', status: 204 },
  'GET /v1/threads': {
    summary: 'Lists threads, most recently changed first',
    role: 'view',
    query: {
      search: 'Part of the title',
      cursor: '`next` of the page before',
      limit: 'How many to return at most, up to 1,000',
    },
  },
  'POST /v1/threads': {
    summary: 'Creates a thread',
    role: 'drive',
    body: fields({ title: text, worktree: flag }),
    status: 201,
  },
  'GET /v1/overview': { summary: 'Lists what waits for a person, then what runs and what is recent', role: 'view' },
  'GET /v1/threads/:thread': {
    summary: 'Reads a thread and the public part of its head',
    role: 'view',
    answer: fields({ thread: { type: 'object' }, head: named('StoredHead') }, ['thread', 'head']),
  },
  'PATCH /v1/threads/:thread': { summary: 'Renames a thread', role: 'drive', body: fields({ title: text }, ['title']) },
  'DELETE /v1/threads/:thread': { summary: 'Ends the run of a thread and deletes it', role: 'drive' },
  'POST /v1/threads/:thread/forks': {
    summary: 'Forks a thread, also at an earlier message',
    role: 'drive',
    body: fields({ messageId: text, title: text, worktree: flag }),
    status: 201,
  },
  'DELETE /v1/threads/:thread/worktree': {
    summary: 'Removes the worktree of a thread, whose changes are made in the workspace first, or dropped',
    role: 'drive',
    query: { changes: '`apply` or `discard`' },
    status: 204,
  },
  'POST /v1/sessions/:session/thread': {
    summary: 'Returns the thread that continues a session of a coding agent; its history is imported first',
    role: 'drive',
  },
  'GET /v1/threads/:thread/children': { summary: 'Lists the threads of its subagents', role: 'view' },
  'GET /v1/threads/:thread/messages': {
    summary: 'Reads messages, newest page first',
    role: 'view',
    query: { before: '`before` of the page before', limit: 'At most 1,000' },
    answer: fields(
      {
        messages: listOf(named('StoredMessage')),
        before: { type: ['integer', 'null'] },
        rewrittenAt: { type: 'integer' },
      },
      ['messages', 'before', 'rewrittenAt'],
    ),
  },
  'GET /v1/threads/:thread/blobs/:hash': {
    summary: 'Reads a large content that a message refers to',
    role: 'view',
    query: { message: 'The id of the message' },
    type: 'application/octet-stream',
  },
  'GET /v1/threads/:thread/files': {
    summary: 'Lists the files that the thread changed, with their contents before and after, and the difference',
    role: 'view',
  },
  'GET /v1/threads/:thread/waits/:wait/file': {
    summary: 'Reads the file that a waiting call would change, as it is now',
    role: 'approve',
  },
  'GET /v1/threads/:thread/memory': { summary: 'Returns how far the memory of the thread is', role: 'view' },
  'GET /v1/threads/:thread/grants': {
    summary: 'Returns what is allowed beyond the rules, in the thread and in all threads of its project',
    role: 'view',
  },
  'GET /v1/threads/:thread/limits': {
    summary: 'Returns the limits of the thread, those it waits for, and what it has used',
    role: 'view',
  },
  'POST /v1/ai/chat': {
    summary: 'Takes a message or answers of an AI SDK chat, and streams the run as UI message chunks',
    role: 'drive',
    body: fields({ id: text, messages: { type: 'array', items: { type: 'object' } }, trigger: text }, [
      'id',
      'messages',
    ]),
    type: 'text/event-stream',
  },
  'GET /v1/ai/chat/:id/stream': {
    summary: 'Streams the run in progress from its beginning; 204 when there is none',
    role: 'view',
    type: 'text/event-stream',
  },
  'GET /v1/modes': { summary: 'Lists the modes', role: 'view' },
  'GET /v1/models': { summary: 'Lists the models, and whether there is a key for each', role: 'view' },
  'GET /v1/agents': { summary: 'Lists the agents and what each can do', role: 'view' },
  'GET /v1/folders': {
    summary: 'Lists the project folders of the server, and whether threads may work in worktrees',
    role: 'view',
  },
  'GET /v1/sessions': {
    summary: 'Lists sessions that coding agents have in the folders of the server; `resume` continues one',
    role: 'view',
    query: { folder: 'One of the folders of the server. Default: all' },
  },
  'GET /v1/limits': { summary: 'Returns the limits of threads', role: 'view' },
  'GET /v1/health': { summary: 'Answers as long as the process lives', role: 'open' },
  'GET /v1/ready': { summary: 'Answers 503 while the store does not answer or the server is closing', role: 'open' },
  'GET /v1/metrics': { summary: 'Numbers for Prometheus', role: 'drive', type: 'text/plain' },
}

/** The routes that need a token, with the role that each needs. */
export function guardedRoutes(): readonly { readonly method: string; readonly path: string; readonly role: Role }[] {
  return Object.entries(ROUTES).flatMap(([route, { role }]) => {
    const [method = '', path = ''] = route.split(' ')
    return role === 'open' ? [] : [{ method, path, role }]
  })
}

/** Returns the role that a route needs. Fails for a route that is not described. */
export function roleOfRoute(method: string, path: string): Role | 'open' {
  const facts = ROUTES[`${method} ${path}`]
  if (facts !== undefined) return facts.role
  throw new InspanError('misuse', `The route ${method} ${path} is not described.`)
}

export function openApi(version: string): JsonObject {
  const paths: Record<string, Record<string, JsonValue>> = {}
  for (const [route, facts] of Object.entries(ROUTES)) {
    const [method = '', path = ''] = route.split(' ')
    const template = path.replaceAll(/:(\w+)/g, '{$1}')
    paths[template] = { ...paths[template], [method.toLowerCase()]: operation(path, facts) }
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Inspan', version },
    security: [{ bearer: [] }, { cookie: [] }],
    components: {
      schemas: components(),
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer' },
        cookie: { type: 'apiKey', in: 'cookie', name: 'inspan_PORT' },
      },
    },
    paths,
  }
}

/** The types of the protocol that the routes mention, each with the types it uses. */
function components(): JsonObject {
  const found: Record<string, JsonValue> = {}
  for (const name of ['Command', 'ReceiptMessage', 'StoredHead', 'StoredMessage'] as const) {
    const { $defs = {}, $schema: _schema, ...schema } = jsonSchemaOf(name)
    // A schema that is used by itself is among its own definitions.
    Object.assign(found, { [name]: schema }, $defs)
  }
  return JSON.parse(JSON.stringify(found).replaceAll('"$ref":"#/$defs/', `"$ref":"${COMPONENTS}`)) as JsonObject
}

function operation(
  path: string,
  { answer, body, query = {}, role, status = 200, summary, type }: RouteFacts,
): JsonObject {
  const inPath = [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => ({
    name,
    in: 'path',
    required: true,
    schema: text,
  }))
  const inQuery = Object.entries(query).map(([name, description]) => ({ name, in: 'query', description, schema: text }))
  const content = { [type ?? 'application/json']: answer === undefined ? {} : { schema: answer } }
  return {
    summary,
    'x-role': role,
    ...(role === 'open' ? { security: [] } : {}),
    parameters: [...inPath, ...inQuery],
    ...(body === undefined
      ? {}
      : { requestBody: { required: true, content: { 'application/json': { schema: body } } } }),
    responses: {
      [String(status)]: { description: summary, ...(status === 204 ? {} : { content }) },
      ...(role === 'open' ? {} : { 401: { description: 'No valid token' } }),
      403: { description: 'Refused origin or role' },
      421: { description: 'Refused host name' },
      429: { description: 'Too many wrong tokens, or a quota of the tenant is used up' },
    },
  }
}
