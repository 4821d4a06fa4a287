import type { JsonObject, JsonValue } from '@inspan/protocol'
import { asArray, asBoolean, asInteger, asObject, asText, NO_FIELDS } from '../kit/fields.ts'
import type { ReportedOutcome } from '../kit/tool-table.ts'

/**
 * Returns how a call ended. `status` only tells whether it ran at all. The result may report a failure, and that of a
 * command has an exit code.
 */
export function readOutcome(block: JsonObject): ReportedOutcome {
  const answer = asObject(block['toolResult']) ?? NO_FIELDS
  const { status, error } = answer
  if (status === 'error') return { isSuccess: false, isUndone: true, result: error ?? null }
  const value = asObject(answer['value']) ?? NO_FIELDS
  const structured = asObject(value['structuredContent']) ?? NO_FIELDS
  const exitCode = asInteger(structured['exit_code'])
  const isError = asBoolean(value['isError'])
  const result = value['content'] ?? answer['value']
  if (exitCode === undefined && wasSkipped(result)) return { isSuccess: false, isUndone: true, result }
  const isSuccess = successOf(exitCode, isError) ?? (status === 'success' ? true : undefined)
  return { isSuccess, exitCode, detail: value['_meta'], result }
}

/** In chat mode nothing runs, but each call is answered as if it had. */
function wasSkipped(content: JsonValue | undefined): boolean {
  const text = asText(asObject(asArray(content)?.[0])?.['text'])
  // Further on it would be part of other output.
  return text?.slice(0, 100).includes('tool call was skipped in goose chat mode') === true
}

function successOf(exitCode: number | undefined, isError: boolean | undefined): boolean | undefined {
  if (isError === true) return false
  if (exitCode !== undefined) return exitCode === 0
  return isError === undefined ? undefined : !isError
}
