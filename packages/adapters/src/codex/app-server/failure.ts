import type { JsonObject } from '@inspan/protocol'
import { asInteger, asObject, asText, firstText, NO_FIELDS } from '../../kit/fields.ts'
import type { Failure } from '../undecided-error.ts'

/** Reads the error of a turn. Its kind is a word, or an object with one key that holds the provider's status. */
export function failureOf(error: JsonObject): Failure {
  const message = firstText(error, 'message') ?? 'Codex reports an error without saying which.'
  const details = asText(error['additionalDetails'])
  const info = error['codexErrorInfo']
  const [kind] = Object.keys(asObject(info) ?? NO_FIELDS)
  const status = asInteger((asObject((asObject(info) ?? NO_FIELDS)[kind ?? '']) ?? NO_FIELDS)['httpStatusCode'])
  const code = asText(info) ?? (status === undefined ? kind : String(status))
  return {
    message: details === undefined ? message : `${message}: ${details}`,
    ...(code === undefined ? {} : { code }),
  }
}
