import type { JsonObject } from '@inspan/protocol'
import type { ScriptedError } from '../script.ts'
import { errorMessage } from '../scripted-error.ts'

const types: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  429: 'rate_limit_error',
}

const codes: Readonly<Record<number, string>> = {
  401: 'invalid_api_key',
  429: 'rate_limit_exceeded',
}

export function openaiError(error: ScriptedError, status: number): JsonObject {
  return {
    error: {
      message: errorMessage(error, status),
      type: error.type ?? types[status] ?? (status < 500 ? 'invalid_request_error' : 'server_error'),
      param: null,
      code: error.code ?? codes[status] ?? null,
    },
  }
}
