import { InspanError, type JsonObject, type JsonValue } from '@inspan/protocol'
import { LIMITS } from '@inspan/protocol/schema'
import { ROLES, type Role } from '../auth/identity.ts'
import { components, fields, flag, listOf, named, text } from './answers.ts'

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
  /** An answer that is no failure either. */
  readonly other?: { readonly status: number; readonly description: string; readonly answer?: JsonObject }
}

/** Every route of a server. One that is missing here cannot be registered. */
const ROUTES: Readonly<Record<string, RouteFacts>> = {
  'GET /v1/openapi.json': { summary: 'This document', role: 'view', answer: { type: 'object' } },
  'GET /v1/events': {
    summary: 'Follows a thread as server-sent events; continues after Last-Event-ID',
    role: 'view',
    query: {
      thread: 'The thread. Default: that of Last-Event-ID, else the newest one',
      client: 'The id of the client',
      window: 'How many of the newest messages to send',
      protocol: '0 for the whole state first, then deltas with indexes',
    },
    answer: text,
    type: 'text/event-stream',
  },
  'POST /v1/commands': {
    summary: 'Carries out commands in order and returns their receipts. Each command needs its own role',
    role: 'view',
    body: fields({ 'clientId?': text, commands: { ...listOf(named('Command')), maxItems: LIMITS.commands } }),
    answer: fields({ receipts: listOf(named('ReceiptMessage')) }),
    status: 202,
  },
  'POST /v1/pair': {
    summary: 'Swaps a one-time code for a cookie',
    role: 'open',
    body: fields({ code: text, 'name?': text }),
    answer: fields({ token: named('Token') }),
  },
  'POST /v1/pair/codes': {
    summary: 'Makes a one-time code',
    role: 'drive',
    body: fields({ 'role?': { enum: [...ROLES] } }),
    answer: fields({ code: text, expiresAt: { type: 'integer' } }),
    status: 201,
  },
  'GET /v1/tokens': {
    summary: 'Lists the tokens, without the tokens themselves',
    role: 'drive',
    answer: fields({ tokens: listOf(named('Token')) }),
  },
  'DELETE /v1/tokens/:id': { summary: 'Revokes a token and ends its connections', role: 'drive', status: 204 },
  'GET /v1/threads': {
    summary: 'Lists threads, most recently changed first',
    role: 'view',
    query: {
      search: 'Part of the title',
      cursor: '`next` of the page before',
      limit: 'How many to return at most, up to 1,000',
    },
    answer: fields({ threads: listOf(named('Thread')), next: { type: ['string', 'null'] } }),
  },
  'POST /v1/threads': {
    summary: 'Creates a thread',
    role: 'drive',
    body: fields({ 'title?': text, 'worktree?': flag }),
    answer: fields({ thread: named('Thread') }),
    status: 201,
  },
  'GET /v1/overview': {
    summary: 'Lists what waits for a person, then what runs and what is recent',
    role: 'view',
    answer: fields({ threads: listOf(named('ThreadOverview')), elsewhere: listOf(named('ThreadOverview')) }),
  },
  'GET /v1/threads/:thread': {
    summary: 'Reads a thread and the public part of its head',
    role: 'view',
    answer: fields({ thread: named('Thread'), head: named('StoredHead') }),
  },
  'PATCH /v1/threads/:thread': {
    summary: 'Renames a thread',
    role: 'drive',
    body: fields({ title: text }),
    answer: fields({ thread: named('Thread') }),
  },
  'DELETE /v1/threads/:thread': {
    summary: 'Ends the run of a thread and deletes it, except what its forks still need',
    role: 'drive',
    answer: fields({ deleted: flag, retained: listOf(named('Retained')) }),
  },
  'POST /v1/threads/:thread/forks': {
    summary: 'Forks a thread, also at an earlier message',
    role: 'drive',
    body: fields({ 'messageId?': text, 'title?': text, 'worktree?': flag }),
    answer: fields({ thread: named('Thread') }),
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
    answer: fields({ thread: text }),
  },
  'GET /v1/threads/:thread/children': {
    summary: 'Lists the threads of its subagents',
    role: 'view',
    answer: fields({ threads: listOf(named('ChildThread')) }),
  },
  'GET /v1/threads/:thread/messages': {
    summary: 'Reads messages, newest page first',
    role: 'view',
    query: { before: '`before` of the page before', limit: 'At most 1,000' },
    answer: fields({
      messages: listOf(named('StoredMessage')),
      before: { type: ['integer', 'null'] },
      rewrittenAt: { type: 'integer' },
    }),
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
    answer: fields({ files: listOf(named('ChangedFile')) }),
  },
  'GET /v1/threads/:thread/waits/:wait/file': {
    summary: 'Reads the file that a waiting call would change, as it is now',
    role: 'approve',
    // No file is not the same as an unknown one.
    answer: fields({ 'before?': { type: ['string', 'null'] } }),
  },
  'GET /v1/threads/:thread/memory': {
    summary: 'Returns how far the memory of the thread is; `null` without one',
    role: 'view',
    answer: fields({ memory: { oneOf: [named('Memory'), { type: 'null' }] } }),
  },
  'GET /v1/threads/:thread/grants': {
    summary: 'Returns what is allowed beyond the rules, in the thread and in all threads of its project',
    role: 'view',
    answer: fields({ thread: named('Grants'), project: named('Grants'), resource: text }),
  },
  'GET /v1/threads/:thread/limits': {
    summary: 'Returns the limits of the thread, those it waits for, and what it has used',
    role: 'view',
    answer: fields({
      limits: named('Limits'),
      waits: listOf(named('Wait')),
      agents: listOf(named('AgentLimit')),
      usage: fields({ own: named('UsageTotals'), subagents: named('UsageTotals'), lastStep: named('UsageMetadata') }),
    }),
  },
  'POST /v1/ai/chat': {
    summary: 'Takes a message or answers of an AI SDK chat, and streams the run as UI message chunks',
    role: 'drive',
    body: fields({ id: text, messages: listOf({ type: 'object' }), 'trigger?': text }),
    answer: text,
    type: 'text/event-stream',
  },
  'GET /v1/ai/chat/:id/stream': {
    summary: 'Streams the run in progress from its beginning; 204 when there is none',
    role: 'view',
    answer: text,
    type: 'text/event-stream',
    other: { status: 204, description: 'No run is in progress' },
  },
  'GET /v1/modes': {
    summary: 'Lists the modes',
    role: 'view',
    answer: fields({ default: text, modes: listOf(named('Mode')) }),
  },
  'GET /v1/models': {
    summary: 'Lists the models, and whether there is a key for each',
    role: 'view',
    answer: fields({ models: listOf(named('Model')) }),
  },
  'GET /v1/agents': {
    summary: 'Lists the agents and what each can do',
    role: 'view',
    answer: fields({ agents: listOf(named('Agent')) }),
  },
  'GET /v1/folders': {
    summary: 'Lists the project folders of the server, and whether threads may work in worktrees',
    role: 'view',
    answer: fields({ folders: listOf(text), worktrees: flag }),
  },
  'GET /v1/sessions': {
    summary: 'Lists sessions that coding agents have in the folders of the server; `resume` continues one',
    role: 'view',
    query: { folder: 'One of the folders of the server. Default: all' },
    answer: fields({ sessions: listOf(named('NativeSession')) }),
  },
  'GET /v1/limits': {
    summary: 'Returns the limits of threads',
    role: 'view',
    answer: fields({ limits: named('Limits') }),
  },
  'GET /v1/health': {
    summary: 'Answers as long as the process lives',
    role: 'open',
    answer: fields({ status: { const: 'ok' } }),
  },
  'GET /v1/ready': {
    summary: 'Answers 503 while the store does not answer or the server is closing',
    role: 'open',
    answer: fields({ status: { const: 'ready' } }),
    other: { status: 503, description: 'Not ready', answer: fields({ status: { const: 'not ready' } }) },
  },
  'GET /v1/metrics': { summary: 'Numbers for Prometheus', role: 'drive', answer: text, type: 'text/plain' },
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

function operation(path: string, facts: RouteFacts): JsonObject {
  const { answer, body, other, query = {}, role, status = 200, summary, type = 'application/json' } = facts
  const inPath = [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => ({
    name,
    in: 'path',
    required: true,
    schema: text,
  }))
  const inQuery = Object.entries(query).map(([name, description]) => ({ name, in: 'query', description, schema: text }))
  return {
    summary,
    'x-role': role,
    ...(role === 'open' ? { security: [] } : {}),
    parameters: [...inPath, ...inQuery],
    ...(body === undefined
      ? {}
      : { requestBody: { required: true, content: { 'application/json': { schema: body } } } }),
    responses: {
      // Bytes have a media type but no schema.
      [String(status)]: described(summary, status === 204 ? undefined : { [type]: schemaOf(answer) }),
      ...(other === undefined
        ? {}
        : {
            [String(other.status)]: described(
              other.description,
              other.answer && { 'application/json': schemaOf(other.answer) },
            ),
          }),
      ...(role === 'open' ? {} : { 401: failure('No valid token') }),
      403: failure('Refused origin or role'),
      421: failure('Refused host name'),
      429: failure('Too many wrong tokens, or a quota of the tenant is used up'),
      default: failure('What was asked for is wrong, does not exist or cannot be done'),
    },
  }
}

function schemaOf(schema: JsonObject | undefined): JsonObject {
  return schema === undefined ? {} : { schema }
}

function described(description: string, content: JsonObject | undefined): JsonObject {
  return { description, ...(content === undefined ? {} : { content }) }
}

function failure(description: string): JsonObject {
  return described(description, { 'application/json': { schema: named('Failure') } })
}
