import type { ActivityDraft } from '../kit/activity.ts'
import { writeDraft } from '../kit/drafts.ts'
import { asArray, asObject, asText } from '../kit/fields.ts'
import { toolTable, type ToolTable } from '../kit/tool-table.ts'

/** Codex runs nearly everything through the shell; these are its items, not tools of the model. */
export const codexTools: ToolTable = toolTable({
  command_execution: (use, outcome, context) => {
    const command = asText(use.input['command'])
    return command === undefined ? [] : context.command(command, outcome, asText(use.input['cwd']))
  },
  file_change: (use, outcome, context) => {
    const drafts: ActivityDraft[] = []
    for (const change of asArray(use.input['changes']) ?? []) {
      const fields = asObject(change)
      // A file that was moved is written in two places; only the app server tells the new one.
      for (const path of [asText(fields?.['path']), asText(fields?.['movePath'])])
        if (path !== undefined) drafts.push(writeDraft(context.path(path), outcome))
    }
    return drafts
  },
})
