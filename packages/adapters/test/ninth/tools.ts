import { asText } from '../../src/kit/fields.ts'
import { consumeCall, toolTable, type ToolTable } from '../../src/kit/tool-table.ts'

/** What its tools do. A rule that gives nothing says: the input does not tell, so the call is unknown. */
export const ninthTools: ToolTable = toolTable({
  shell: (use, outcome, context) => {
    const command = asText(use.input['command'])
    return command === undefined ? [] : context.command(command, outcome)
  },
  todo: consumeCall('bookkeeping'),
})
