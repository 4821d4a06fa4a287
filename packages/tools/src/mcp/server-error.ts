import { InspanError } from '@inspan/protocol'
import { McpServerErrorCategory as Category, type McpServerErrorDetail } from '@inspan/protocol/chat'

export interface ServerProblem {
  readonly message: string
  readonly detail: McpServerErrorDetail
}

const MAX_MESSAGE = 500

const RETRIABLE: ReadonlySet<string> = new Set([
  Category.ConnectTimeout,
  Category.Http401,
  Category.Http5xx,
  Category.TransportEof,
])

/** Describes a failure for people and programs, without anything that only concerns this machine. */
export function problemOf(error: unknown): ServerProblem {
  const category = categoryOf(error)
  const code = rpcCodeOf(error)
  return {
    message: sanitised(error instanceof Error ? error.message : String(error)),
    detail: { category, ...(code === undefined ? {} : { code }), retriable: RETRIABLE.has(category) },
  }
}

function categoryOf(error: unknown): McpServerErrorDetail['category'] {
  if (!(error instanceof Error)) return Category.Unknown
  const status = statusOf(error)
  if (status !== undefined) return categoryOfStatus(status)
  if (error.name === 'AbortError') return Category.Aborted
  if (error instanceof InspanError) return categoryOfOurs(error)
  if (error.name === 'UnauthorizedError') return Category.Http401
  // A program that cannot be started, or a host that does not exist.
  if (error.name === 'SpawnError') return Category.ConfigError
  const { code } = error as { code?: unknown }
  if (typeof code === 'number') return Category.ProtocolError
  switch (code) {
    case 'REQUEST_TIMEOUT':
      return Category.ConnectTimeout
    case 'CONNECTION_CLOSED':
    case 'NOT_CONNECTED':
    case 'SEND_FAILED':
      return Category.TransportEof
    case 'ERA_NEGOTIATION_FAILED':
      return eraFailure(error)
    case 'INVALID_RESULT':
    case 'UNSUPPORTED_RESULT_TYPE':
    case 'LIST_PAGINATION_EXCEEDED':
    case 'CLIENT_HTTP_UNEXPECTED_CONTENT':
      return Category.ProtocolError
    case 'CLIENT_HTTP_AUTHENTICATION':
      return Category.Http401
    case 'CLIENT_HTTP_FORBIDDEN':
      return Category.Http403
    default:
      return isNetworkFailure(error) ? Category.TransportEof : Category.Unknown
  }
}

function categoryOfOurs({ code }: InspanError): McpServerErrorDetail['category'] {
  if (code === 'invalid-input' || code === 'unsupported') return Category.ConfigError
  if (code === 'closed') return Category.Aborted
  if (code === 'expired') return Category.ConnectTimeout
  return Category.ProtocolError
}

function categoryOfStatus(status: number): McpServerErrorDetail['category'] {
  if (status === 401) return Category.Http401
  if (status === 403) return Category.Http403
  if (status >= 500) return Category.Http5xx
  return status >= 400 ? Category.Http4xx : Category.ProtocolError
}

/** The library reports a failed negotiation in words; the status of an HTTP answer is among them. */
function eraFailure(error: Error): McpServerErrorDetail['category'] {
  const status = /\bHTTP (\d{3})\b|\bstatus (\d{3})\b/i.exec(error.message)
  if (status !== null) return categoryOfStatus(Number(status[1] ?? status[2]))
  return /timed? ?out/i.test(error.message) ? Category.ConnectTimeout : Category.TransportEof
}

function statusOf(error: Error): number | undefined {
  const { data, status } = error as { data?: { status?: unknown } | null; status?: unknown }
  const found = typeof status === 'number' ? status : data?.status
  return typeof found === 'number' && found >= 100 && found < 600 ? found : undefined
}

function rpcCodeOf(error: unknown): number | undefined {
  if (!(error instanceof Error) || error.name !== 'ProtocolError') return undefined
  const { code } = error as { code?: unknown }
  return typeof code === 'number' ? code : undefined
}

function isNetworkFailure(error: Error): boolean {
  return (
    error.message === 'fetch failed' || /ECONN|ENOTFOUND|EPIPE|socket/i.test(`${error.message} ${String(error.cause)}`)
  )
}

/** Removes stack frames, paths and secrets of this machine from what a server or a library says. */
export function sanitised(message: string): string {
  const withoutStack = message
    .split('\n')
    .filter((line) => !/^\s*at\s/.test(line))
    .join(' ')
  return (
    withoutStack
      .replace(/file:\/\/\S+/g, '<file>')
      .replace(/(^|[\s'"`(=])(?:\/(?!\/)[^\s'"`():]+){2,}/g, '$1<path>')
      .replace(/(^|[\s'"`(=])[A-Za-z]:\\[^\s'"`()]+/g, '$1<path>')
      .replace(/\/\/[^\s/@:]+:[^\s/@]+@/g, '//<credentials>@')
      .replace(/\b(Bearer|Basic)\s+[\w.~+/=-]{8,}/gi, '$1 <credentials>')
      // Control characters would reach terminals.
      .replace(/\p{Cc}+/gu, ' ')
      .trim()
      .slice(0, MAX_MESSAGE)
  )
}
