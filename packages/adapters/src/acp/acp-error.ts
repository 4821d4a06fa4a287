import type { JsonObject, JsonValue } from '@evener/protocol'
import { failureOf } from './outcome.ts'

/** An agent has refused what it was asked; `code` is `auth-required`, or the number that the protocol has for it. */
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

/** What the library throws for an answer that is an error, with what to do about it; anything else as it is. */
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
