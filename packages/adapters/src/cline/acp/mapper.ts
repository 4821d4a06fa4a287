import type { JsonObject, JsonValue } from '@inspan/protocol'
import type { AcpHabits } from '../../acp/habits.ts'
import { acpDialectOf } from '../../acp/mapper.ts'
import type { AcpToolCall } from '../../acp/tool-call.ts'
import { readOutcome } from '../outcome.ts'
import { clineTools, SPAWN } from '../tools.ts'
import { asObject, asText } from '../../kit/fields.ts'
import { parseRecord } from '../../kit/json-line.ts'
import type { Dialect } from '../../kit/mapper.ts'
import type { ReportedOutcome } from '../../kit/tool-table.ts'

/** Titles consist of the tool's name and what it is used for. */
const TITLE = /^(\w+)(?::|$)/
/** Matches the server in `<server>__<tool>`. */
const SERVER = /^(\w+?)__/
/** Cline's model library prints warnings about itself, over several lines. */
const STACK_LINE = /^\s+at /
const LIBRARY = /^(?:\w+)?Warning: AI SDK Warning/
/** A log line that reports nothing bad. */
const PROGRESS = /^\[acp\] (?!.*(?:error|fail|warn|unable|cannot|could not))/i

/** How `cline --acp` differs from the protocol. */
export const clineHabits: AcpHabits = {
  tools: clineTools,
  toolName,
  serverName: (call) => SERVER.exec(toolName(call) ?? '')?.[1],
  subagentTool: SPAWN,
  outcome,
  // A refused call is reported as failed at once, and again with the reason.
  isProvisional: (update) => update['status'] === 'failed' && update['rawOutput'] === undefined,
  noise: (line) => {
    if (STACK_LINE.test(line)) return 'stack-trace'
    return PROGRESS.test(line) || LIBRARY.test(line) ? 'notice' : undefined
  },
}

export const clineAcpDialect: Dialect = acpDialectOf('cline-acp', clineHabits)

function toolName(call: AcpToolCall): string | undefined {
  return TITLE.exec(call.title ?? '')?.[1]
}

/** Returns how a call ended. The status `completed` only means that the call was made; the output shows the rest. */
function outcome(call: AcpToolCall): ReportedOutcome {
  const output = unpacked(call.output)
  const error = asText(asObject(output)?.['error'])
  const event: JsonObject = {
    ...(output === undefined ? {} : { output }),
    ...(call.status === 'failed' ? { error: error ?? 'failed' } : {}),
  }
  return readOutcome(event)
}

/** Failures come as JSON in a string. */
function unpacked(output: JsonValue | undefined): JsonValue | undefined {
  return typeof output === 'string' && output.startsWith('{') ? (parseRecord(output) ?? output) : output
}
