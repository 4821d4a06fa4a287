import type { JsonObject, JsonValue } from '@inspan/protocol'
import { asArray, asBoolean, asObject, asText, firstText, NO_FIELDS } from '../kit/fields.ts'
import type { Run } from '../kit/mapper.ts'
import type { ReportedOutcome } from '../kit/tool-table.ts'
import { mcpToolName } from '../launch/tool-kinds.ts'

/** The last line of a failed command's output. */
const EXIT_CODE = /(?:^|\n)Command exited with code (\d{1,10})$/
/** More than the longest line that can match, so that an output is not searched from its beginning. */
const TAIL = 64

export function readToolStart(record: JsonObject, run: Run): void {
  const id = asText(record['toolCallId'])
  const name = asText(record['toolName'])
  if (id === undefined || name === undefined) return
  const { args } = record
  const serverName = mcpToolName(name)?.server
  run.call({ id, name, serverName, input: asObject(args) ?? NO_FIELDS, raw: record, invalidInput: asText(args) })
}

/** Reads the end of a call. Its input is in the start record; versions that repeat it here need no start record. */
export function readToolEnd(record: JsonObject, run: Run): void {
  const name = asText(record['toolName'])
  const id = asText(record['toolCallId']) ?? name
  const outcome = outcomeOf(record, name)
  const input = asObject(record['input']) ?? asObject(record['args'])
  if (id === undefined || name === undefined || input === undefined) {
    run.result({ id, parent: null, raw: record, outcome })
  } else run.resultOrCall({ id, name, input, raw: record }, outcome, { isRestated: false })
}

function outcomeOf(record: JsonObject, name: string | undefined): ReportedOutcome {
  const isSuccess = successOf(record)
  const { result } = record
  const isCommand = name !== undefined && /^(?:bash|shell)$/i.test(name)
  const exitCode = isCommand && isSuccess === false ? exitCodeOf(result) : undefined
  const detail = asObject(result)?.['details']
  return { isSuccess, exitCode, detail, result }
}

function successOf(record: JsonObject): boolean | undefined {
  const isError = asBoolean(record['isError'])
  if (isError !== undefined) return !isError
  if (record['error'] !== undefined && record['error'] !== null) return false
  switch (firstText(record, 'status')) {
    case 'completed':
    case 'success':
    case 'ok':
      return true
    case 'error':
    case 'failed':
      return false
    default:
      return undefined
  }
}

function exitCodeOf(result: JsonValue | undefined): number | undefined {
  const texts = asArray(asObject(result)?.['content'])
  const last = texts?.[texts.length - 1]
  const text = asText(asObject(last)?.['text']) ?? asText(result)
  const code = text === undefined ? undefined : EXIT_CODE.exec(text.slice(-TAIL))?.[1]
  return code === undefined ? undefined : Number(code)
}
