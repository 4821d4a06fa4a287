import type { ActivityDraft } from '../kit/activity.ts'
import { writeDraft } from '../kit/drafts.ts'
import { asArray, asObject, asText, textList } from '../kit/fields.ts'
import { toolTable, type ConsumedCall, type ToolRule, type ToolTable } from '../kit/tool-table.ts'

const ORCHESTRATION: ConsumedCall = Object.freeze({ consumed: 'orchestration' })

/** Rules for the items of Codex, which are not tools of the model: it runs nearly everything through the shell. */
export const codexTools: ToolTable = toolTable({
  command_execution: (use, outcome, context) => {
    const command = asText(use.input['command'])
    // The model may name a directory for each command, which `codex exec` does not print.
    return command === undefined ? [] : context.command(command, outcome, asText(use.input['cwd']) ?? null)
  },
  file_change: (use, outcome, context) => {
    const drafts: ActivityDraft[] = []
    for (const change of asArray(use.input['changes']) ?? []) {
      const fields = asObject(change)
      // A moved file is written in two places; only the app server reports the new one.
      for (const path of [asText(fields?.['path']), asText(fields?.['movePath'])])
        if (path !== undefined) drafts.push(writeDraft(context.path(path), outcome))
    }
    return drafts
  },
  spawn_agent: leftOpen,
  wait: leftOpen,
  send_input: leftOpen,
  close_agent: leftOpen,
})

/** Handles an item about subagents that never completed: the subagents it waits for ended with the CLI. */
function leftOpen({ name, input }: Parameters<ToolRule>[0]): readonly ActivityDraft[] | ConsumedCall {
  if (!('receivers' in input)) return []
  if (name === 'spawn_agent') return [{ type: 'orchestration', action: 'subagent_failed', isSuccess: false }]
  const waitedFor = name === 'wait' ? textList(input['receivers']) : []
  if (waitedFor.length === 0) return ORCHESTRATION
  return waitedFor.map((subagentId) => ({
    type: 'orchestration',
    action: 'subagent_failed',
    subagentId,
    isSuccess: false,
  }))
}
