import type { JsonObject, JsonValue } from '@inspan/protocol'
import { failureOf } from './outcome.ts'

/** The agent refused a request. `code` is `auth-required` or the error number of the protocol. */
export class AcpError extends Error {
  override readonly name = 'AcpError'
  readonly code: string

  constructor(message: string, code: string) {
    super(message)
    this.code = code
  }

  get isAuthRequired(): boolean {
    return this.code === 'auth-required'
  }
}

interface RpcError {
  readonly code: number
  readonly message: string
  readonly data?: JsonValue
}

/** Turns an error response thrown by the library into an `AcpError` with advice. Returns any other error as it is. */
export function acpErrorOf(thrown: unknown, logins: readonly string[]): unknown {
  if (!isRpcError(thrown)) return thrown
  const { code, message, data } = thrown
  const error: JsonObject = { code, message, ...(data === undefined ? {} : { data }) }
  const failure = failureOf(error, logins)
  return new AcpError(failure.message, failure.code)
}

function isRpcError(thrown: unknown): thrown is RpcError {
  return (
    thrown instanceof Error && thrown.name === 'RequestError' && 'code' in thrown && typeof thrown.code === 'number'
  )
}
