import type { JsonObject, JsonValue } from '@inspan/protocol'
import type { CallRecord } from '../kit/calls.ts'
import type { Mutable } from '../kit/event-parts.ts'
import { asInteger, asObject, asText, NO_FIELDS } from '../kit/fields.ts'
import type { ReportedOutcome } from '../kit/tool-table.ts'

interface ToolUseRecord {
  readonly call: Mutable<CallRecord>
  readonly outcome: ReportedOutcome
  /** `announced`: the input is still being written. */
  readonly phase: 'announced' | 'running' | 'over'
}

/** The tool that OpenCode runs if the model called an unknown tool, or with input that is not JSON. */
const INVALID = 'invalid'
/** The tool that may complete without success. */
const SHELL = 'bash'

export function readToolUse(record: JsonObject, part: JsonObject): ToolUseRecord | undefined {
  const tool = asText(part['tool']) ?? asText(part['name'])
  if (tool === undefined) return undefined
  const state = asObject(part['state']) ?? part
  const given = state['input'] ?? part['input']
  const input = asObject(given) ?? NO_FIELDS
  const id = asText(part['callID']) ?? asText(part['id']) ?? tool
  const called = tool === INVALID ? asText(input['tool']) : undefined
  if (called !== undefined) {
    const outcome: ReportedOutcome = { isSuccess: false, result: input['error'] ?? null }
    return { call: callOf(id, called, NO_FIELDS, record, undefined), outcome, phase: 'over' }
  }
  const call = callOf(id, tool, input, record, asText(given))
  return { call, outcome: outcomeOf(tool, state), phase: phaseOf(state['status']) }
}

/** The caller of this function adds `parent` and `native`. */
function callOf(
  id: string,
  name: string,
  input: JsonObject,
  raw: JsonObject,
  invalidInput: string | undefined,
): Mutable<CallRecord> {
  return { id, name, input, raw, invalidInput, parent: undefined, native: undefined }
}

function phaseOf(status: JsonValue | undefined): ToolUseRecord['phase'] {
  if (status === 'pending') return 'announced'
  return status === 'running' ? 'running' : 'over'
}

function outcomeOf(tool: string, state: JsonObject): ReportedOutcome {
  const { status, error, output, metadata } = state
  const exit = asObject(metadata)?.['exit']
  const exitCode = asInteger(exit)
  const hasFailed = status === 'error' || (status !== 'completed' && asText(error) !== undefined)
  const isSuccess = hasFailed
    ? false
    : (commandSuccess(exit) ?? (status === 'completed' && tool !== SHELL ? true : undefined))
  const result = hasFailed ? error : output
  // A command that ran is completed, whatever its exit code.
  const isUndone = hasFailed && exit === undefined
  return { isSuccess, exitCode, isUndone, detail: metadata, result }
}

/** `exit` is `null` for a command that was killed. */
function commandSuccess(exit: JsonValue | undefined): boolean | undefined {
  if (exit === null) return false
  const exitCode = asInteger(exit)
  return exitCode === undefined ? undefined : exitCode === 0
}
