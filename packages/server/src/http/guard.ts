import type { IncomingMessage } from 'node:http'
import type { LoginFailures } from '../auth/failures.ts'
import type { Identity } from '../auth/identity.ts'
import { ROLES } from '../auth/identity.ts'
import type { Tokens } from '../auth/tokens.ts'

export const SUBPROTOCOL = 'inspan.v1'
const TOKEN_SUBPROTOCOL = 'inspan.token.'

export interface Caller extends Identity {
  /** Set when the caller is known by one of our tokens. */
  readonly tokenId?: string
}

export interface HttpRefusal {
  readonly status: 400 | 401 | 403 | 415 | 421 | 429
  readonly message: string
  readonly retryAfter?: number
}

/**
 * Maps what a proxy or another system says about the caller, e.g. a signed token in a header. If it throws,
 * the caller is refused; if it returns `undefined`, the caller needs one of the server's tokens.
 */
export type Identify = (request: {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly address: string
}) => Promise<Identity | undefined> | Identity | undefined

export interface GuardOptions {
  readonly tokens: Tokens
  readonly failures: LoginFailures
  /** Values of `Host` that are answered, with port. */
  readonly hosts: () => readonly string[]
  readonly origins: () => readonly string[]
  readonly trustProxy: boolean
  /** The name of the cookie. Cookies are shared by all ports of a host, so it holds the port. */
  readonly cookie: () => string
  readonly identify?: Identify
}

/** What is decided about a request before any route sees it. The same for HTTP and for WebSocket upgrades. */
export type IdentifiedCaller = { readonly caller: Caller | undefined; readonly refusal?: HttpRefusal }

/**
 * Checks where a request comes from, whoever sends it. Without this, any web page could reach the server. `underAnyHost`:
 * for what reveals nothing and is asked for by the address of a machine.
 */
export function checkSource(
  request: IncomingMessage,
  options: GuardOptions,
  underAnyHost = false,
): HttpRefusal | undefined {
  const { headers } = request
  const host = (options.trustProxy ? first(headers['x-forwarded-host']) : undefined) ?? headers.host
  // Exact names only: a name that merely begins or ends with ours belongs to somebody else.
  if (!underAnyHost && (host === undefined || !options.hosts().includes(host.toLowerCase()))) {
    return { status: 421, message: 'This host name is not served here.' }
  }
  const { origin } = headers
  if (origin !== undefined && !options.origins().includes(origin.toLowerCase())) {
    return { status: 403, message: 'This origin is not allowed.' }
  }
  const site = first(headers['sec-fetch-site'])
  if (site !== undefined && site !== 'same-origin' && site !== 'none' && origin === undefined) {
    return { status: 403, message: 'Requests from other sites are not allowed.' }
  }
  const [, query] = (request.url ?? '').split('?')
  if (query !== undefined && /(?:^|&)(?:token|access_token|auth|key|code)=/i.test(query)) {
    return { status: 400, message: 'Addresses must not contain tokens: send it as an Authorization header.' }
  }
  if (hasBody(request) && !isJson(headers['content-type'])) {
    return { status: 415, message: 'The content type has to be application/json.' }
  }
  return undefined
}

/** Finds out who sends a request. Every request needs a valid token, whatever else it claims. */
export async function identifyCaller(request: IncomingMessage, options: GuardOptions): Promise<IdentifiedCaller> {
  const address = addressOf(request, options.trustProxy)
  const lockedFor = options.failures.lockedFor(address)
  if (lockedFor > 0) {
    const refusal: HttpRefusal = {
      status: 429,
      message: 'Too many wrong tokens. Try again later.',
      retryAfter: lockedFor,
    }
    return { caller: undefined, refusal }
  }
  const { identify } = options
  try {
    const mapped = await identify?.({ headers: request.headers, address })
    if (mapped !== undefined) {
      return isIdentity(mapped) ? { caller: mapped } : { caller: undefined, refusal: UNAUTHORIZED }
    }
  } catch {
    // The hook throws for what it cannot verify, such as an expired signature.
    options.failures.note(address, request.rawHeaders.join('\n'))
    return { caller: undefined, refusal: UNAUTHORIZED }
  }
  const token = tokenOf(request, options.cookie())
  if (token === undefined) return { caller: undefined, refusal: UNAUTHORIZED }
  const caller = options.tokens.find(token)
  if (caller !== undefined) return { caller }
  options.failures.note(address, token)
  return { caller: undefined, refusal: UNAUTHORIZED }
}

function isIdentity({ principal, role, tenant }: Identity): boolean {
  const isNamed = typeof principal === 'string' && principal !== ''
  return isNamed && ROLES.includes(role) && (tenant === undefined || (typeof tenant === 'string' && tenant !== ''))
}

const UNAUTHORIZED: HttpRefusal = { status: 401, message: 'A valid token is needed.' }

export function addressOf(request: IncomingMessage, trustProxy: boolean): string {
  const forwarded = trustProxy ? first(request.headers['x-forwarded-for'])?.split(',').at(-1)?.trim() : undefined
  return forwarded ?? request.socket.remoteAddress ?? 'local'
}

function tokenOf({ headers }: IncomingMessage, cookie: string): string | undefined {
  const [, bearer] = /^Bearer (\S+)$/i.exec(headers.authorization ?? '') ?? []
  if (bearer !== undefined) return bearer
  const offered = (first(headers['sec-websocket-protocol']) ?? '').split(',').map((each) => each.trim())
  const inProtocol = offered.find((each) => each.startsWith(TOKEN_SUBPROTOCOL))
  if (inProtocol !== undefined) return inProtocol.slice(TOKEN_SUBPROTOCOL.length)
  for (const pair of (headers.cookie ?? '').split(';')) {
    const [name, value] = pair.trim().split('=')
    if (name === cookie && value !== undefined && value !== '') return value
  }
  return undefined
}

function hasBody({ headers, method }: IncomingMessage): boolean {
  return method !== 'GET' && method !== 'HEAD' && method !== 'OPTIONS' && method !== 'DELETE'
    ? true
    : headers['content-length'] !== undefined && headers['content-length'] !== '0'
}

function isJson(type: string | undefined): boolean {
  return /^application\/json(?:\s*;|$)/i.test(type ?? '')
}

function first(value: string | string[] | undefined): string | undefined {
  return typeof value === 'string' ? value : value?.[0]
}
