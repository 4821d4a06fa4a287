import { asArray, asObject, asText } from '../kit/fields.ts'
import { success, toolTable, type ToolTable } from '../kit/tool-table.ts'

/** Codex runs nearly everything through the shell; these are its items, not tools of the model. */
export const codexTools: ToolTable = toolTable({
  command_execution: (use, outcome, context) => {
    const command = asText(use.input['command'])
    return command === undefined ? [] : context.command(command, outcome)
  },
  file_change: (use, outcome, context) =>
    (asArray(use.input['changes']) ?? []).flatMap((change) => {
      const path = asText(asObject(change)?.['path'])
      return path === undefined ? [] : [{ type: 'write' as const, path: context.path(path), ...success(outcome) }]
    }),
})
