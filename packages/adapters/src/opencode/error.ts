import type { JsonValue } from '@evener/protocol'
import { asObject, asText, firstText } from '../kit/fields.ts'

export interface ReportedError {
  readonly message: string
  readonly code?: string
}

/** An error is a name with data, or just a sentence. */
export function readError(error: JsonValue | undefined): ReportedError | undefined {
  const sentence = asText(error)
  if (sentence !== undefined) return { message: sentence }
  const fields = asObject(error)
  if (fields === undefined) return undefined
  const code = firstText(fields, 'name', 'code')
  const message = asText(asObject(fields['data'])?.['message']) ?? asText(fields['message']) ?? code
  if (message === undefined) return undefined
  return code === undefined ? { message } : { message, code }
}
