import { InspanError, type ErrorCode } from '@inspan/protocol'
import { REFUSAL } from './schema/append-function.ts'

interface PostgresMeaning {
  readonly code: ErrorCode
  readonly what: string
  readonly hint: string
}

const STANDBY: PostgresMeaning = {
  code: 'read-only',
  what: 'is read-only',
  hint: 'Connect to the primary: a standby cannot be written.',
}

/** By SQLSTATE or its class, the first two characters. */
const MEANINGS: Readonly<Record<string, PostgresMeaning>> = {
  '22021': {
    code: 'invalid-input',
    what: 'was given a text that it cannot hold',
    hint: 'Leave NUL and broken characters out of ids and names.',
  },
  '25006': STANDBY,
  // A function that only a primary has. The code has no other cause in what we ask.
  '55000': STANDBY,
  '28': { code: 'invalid-input', what: 'refused the login', hint: 'Check user and password in the url.' },
  '3D': { code: 'not-found', what: 'does not exist', hint: 'Create it, or correct its name in the url.' },
  '42501': {
    code: 'read-only',
    what: 'does not let this user do that',
    hint: 'The user needs the right to create a schema in the database, or to use the one that is there.',
  },
  '53100': { code: 'disk-full', what: 'has no room left; nothing was written', hint: 'Free some space and try again.' },
  XX001: { code: 'corrupt', what: 'is damaged', hint: 'Restore it from a backup.' },
  XX002: { code: 'corrupt', what: 'is damaged', hint: 'Restore it from a backup.' },
}

const UNREACHABLE: PostgresMeaning = {
  code: 'io',
  what: 'could not be reached, or did not answer',
  hint: 'Check that the server is running. A write may have been committed: read the stream before repeating it.',
}

/** Nothing was sent to a server that could not be connected to. */
const NO_CONNECTION: PostgresMeaning = {
  code: 'io',
  what: 'could not be reached',
  hint: 'Check that the server is running, and host and port in the url.',
}
const CONNECT_ERRORS = new Set(['ECONNREFUSED', 'ENOENT', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH'])

/** Deadlocks and failed serialization: the transaction was rolled back. */
export function isTransient(error: unknown): boolean {
  const state = sqlState(error)
  return state === '40P01' || state === '40001'
}

/** Returns the SQLSTATE of an error that the server reported. */
export function sqlState(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') return undefined
  return 'severity' in error ? error.code : undefined
}

const QUOTA_HINTS: Readonly<Record<string, string>> = {
  threads: 'Delete threads that are no longer needed',
  bytes: 'Delete threads that are no longer needed',
  commands: 'Wait until the commands before it were carried out and send it again',
}

function quotaExceeded(thrown: Error): InspanError {
  const detail = 'detail' in thrown && typeof thrown.detail === 'string' ? thrown.detail : '{}'
  const details = JSON.parse(detail) as { resourceId: string; quota: string; limit: number; used: number }
  const { limit, quota, resourceId, used } = details
  return new InspanError('quota-exceeded', `Tenant ${resourceId} may have ${limit} ${quota} and has ${used}.`, {
    hint: `${QUOTA_HINTS[quota] ?? 'Delete threads'}, or raise the quota with \`inspan db tenant\` or \`setTenant\`.`,
    details,
  })
}

/** Turns what pg throws into one of our errors. Refusals of our own functions go through unchanged. */
export function fromPostgresError(thrown: unknown): unknown {
  if (InspanError.is(thrown) || !(thrown instanceof Error)) return thrown
  const state = sqlState(thrown)
  if (state === REFUSAL.quota) return quotaExceeded(thrown)
  if (state?.startsWith('IN') === true) return thrown
  const unreachable = 'code' in thrown && CONNECT_ERRORS.has(String(thrown.code)) ? NO_CONNECTION : UNREACHABLE
  const meaning = (state && (MEANINGS[state] ?? MEANINGS[state.slice(0, 2)])) || unreachable
  const what = state !== undefined && meaning === UNREACHABLE ? 'reported an error' : meaning.what
  return new InspanError(meaning.code, `The Postgres database ${what} (${messageOf(thrown)}).`, {
    hint: meaning.hint,
    details: state === undefined ? {} : { sqlState: state },
    cause: thrown,
  })
}

/** A host with several addresses fails once for each of them, with an empty message over all. */
function messageOf(thrown: Error): string {
  const causes: readonly unknown[] = thrown instanceof AggregateError ? thrown.errors : []
  const messages = causes.map((cause) => (cause instanceof Error ? cause.message : String(cause)))
  return thrown.message === '' ? messages.join(', ') : thrown.message
}
