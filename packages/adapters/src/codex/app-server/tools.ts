import { asText } from '../../kit/fields.ts'
import { extendTable, success, toolTable, type ToolTable } from '../../kit/tool-table.ts'
import { codexTools } from '../tools.ts'

/** The items of print mode, with more fields. */
export const appServerTools: ToolTable = extendTable(
  codexTools,
  toolTable({
    command_execution: (use, outcome, context) => {
      const command = asText(use.input['command'])
      return command === undefined ? [] : context.command(command, outcome, asText(use.input['cwd']))
    },
    view_image: (use, outcome, context) => {
      const path = asText(use.input['path'])
      return path === undefined ? [] : [{ type: 'read', path: context.path(path), ...success(outcome) }]
    },
    spawn_agent: (use, outcome) => {
      const subagentId = asText(use.input['threadId'])
      const subagentName = asText(use.input['agent'])
      const isSuccess = outcome.isSuccess === true
      return [
        {
          type: 'orchestration',
          action: isSuccess ? 'subagent_completed' : 'subagent_failed',
          ...(subagentId === undefined ? {} : { subagentId }),
          ...(subagentName === undefined ? {} : { subagentName }),
          isSuccess,
        },
      ]
    },
  }),
)
