import type { JsonObject, JsonValue } from '@inspan/protocol'
import { asArray, asBoolean, asObject, asText, NO_FIELDS } from '../kit/fields.ts'
import type { ReportedOutcome } from '../kit/tool-table.ts'

/** The error message for a command's exit code. The field contains nothing else. */
const EXIT_CODE = /^Command exited with code (\d{1,10})$/

/** Returns how a call ended, from the record that ends it. */
export function readOutcome(event: JsonObject): ReportedOutcome {
  const { output } = event
  // A call that was refused or had wrong input has no success flag: the error says it all.
  const isSuccess = asText(event['error']) === undefined ? successOf(output) : false
  return { isSuccess, result: output ?? event['error'] ?? null }
}

/** Returns how one item of a batch ended. An output without items is about all of them. */
export function itemOutcome(outcome: ReportedOutcome, index: number, count: number): ReportedOutcome {
  const items = asArray(outcome.result)
  const item = items?.length === count ? asObject(items[index]) : count === 1 ? asObject(outcome.result) : undefined
  if (item === undefined) return withoutCode(outcome)
  const isSuccess = successOf(item) ?? outcome.isSuccess
  const code = isSuccess === false ? EXIT_CODE.exec(asText(item['error']) ?? '')?.[1] : undefined
  return { isSuccess, exitCode: code === undefined ? undefined : Number(code) }
}

/** Whether a subagent succeeded, by the `finishReason` of its result if it has one. */
export function subagentSuccess(outcome: ReportedOutcome): boolean | undefined {
  const reason = asText((asObject(outcome.result) ?? NO_FIELDS)['finishReason'])
  return reason === undefined ? outcome.isSuccess : reason === 'completed'
}

function withoutCode({ isSuccess }: ReportedOutcome): ReportedOutcome {
  return { isSuccess }
}

/** Returns the output's own flag; for a batch, whether every item succeeded. */
function successOf(output: JsonValue | undefined): boolean | undefined {
  const items = asArray(output)
  if (items !== undefined) return items.length === 0 ? undefined : everyItem(items)
  const fields = asObject(output)
  if (fields === undefined) return undefined
  const isError = asBoolean(fields['isError'])
  const flag = asBoolean(fields['success']) ?? (isError === undefined ? undefined : !isError)
  return flag ?? (asText(fields['error']) === undefined ? undefined : false)
}

function everyItem(items: readonly JsonValue[]): boolean | undefined {
  let areAll: boolean | undefined = true
  for (const item of items) {
    const isSuccess = successOf(item)
    if (isSuccess === false) return false
    if (isSuccess === undefined) areAll = undefined
  }
  return areAll
}
