import { acpDialectOf } from '../../acp/mapper.ts'
import type { AcpHabits } from '../../acp/habits.ts'
import type { AcpToolCall } from '../../acp/tool-call.ts'
import { asObject, asText, NO_FIELDS } from '../../kit/fields.ts'
import type { Dialect } from '../../kit/mapper.ts'
import type { ReportedOutcome } from '../../kit/tool-table.ts'
import { readToolUse } from '../tool-use.ts'
import { opencodeTools } from '../tools.ts'

/** How `opencode acp` differs from the protocol. */
export const opencodeHabits: AcpHabits = {
  tools: opencodeTools,
  // Later titles describe this one call.
  toolName: (call) => call.firstTitle,
  inputFollows: true,
  outcome,
  // It reports the tokens of the last model call only.
  hasPartialUsage: true,
}

export const opencodeAcpDialect: Dialect = acpDialectOf('opencode-acp', opencodeHabits)

/** Returns how a call ended, by reading the output as in print mode. */
function outcome(call: AcpToolCall): ReportedOutcome {
  const { firstTitle: tool = '', input, status } = call
  const reported = asText(input['error'])
  if (reported !== undefined && input['tool'] === tool) return { isSuccess: false, result: reported }
  const { output, metadata, error } = asObject(call.output) ?? NO_FIELDS
  const state = {
    status: status === 'failed' ? 'error' : 'completed',
    input,
    ...(output === undefined ? {} : { output }),
    ...(metadata === undefined ? {} : { metadata }),
    ...(error === undefined ? {} : { error }),
  }
  const use = readToolUse(NO_FIELDS, { tool: tool === '' ? 'tool' : tool, state })
  const result = use?.outcome.result ?? call.output ?? call.text ?? null
  return { ...use?.outcome, result }
}
