import { asText } from '../../src/kit/fields.ts'
import { consumeCall, toolTable, type ToolTable } from '../../src/kit/tool-table.ts'

/** What its tools do. If the input is not enough for a rule, it returns nothing, and the call is unknown. */
export const ninthTools: ToolTable = toolTable({
  shell: (use, outcome, context) => {
    const command = asText(use.input['command'])
    return command === undefined ? [] : context.command(command, outcome)
  },
  todo: consumeCall('bookkeeping'),
})
