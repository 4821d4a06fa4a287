import type { JsonObject } from '@inspan/protocol'
import type { ActivityDraft } from '../kit/activity.ts'
import { asArray, asObject, asText, firstText, NO_FIELDS } from '../kit/fields.ts'
import { toolTable, type ReportedOutcome, type ToolTable } from '../kit/tool-table.ts'
import { searchFor, subagent } from '../opencode/tools.ts'

/** Rules for the tools that Kilo Code adds to OpenCode's. */
export const kiloTools: ToolTable = toolTable({
  agent_manager: (use, outcome) => {
    const detail = asObject(outcome.detail) ?? NO_FIELDS
    const subagentId = firstText(detail, 'sessionId', 'sessionID')
    const named = firstText(use.input, 'agent', 'subagent_type', 'name')
    if (subagentId !== undefined) return subagent(subagentId, named, outcome, false)
    return requestedSessions(use.input, named, outcome)
  },
  codesearch: searchFor('query', 'pattern'),
  background_process: (use, outcome, context) => {
    const command = asText(use.input['command'])
    if (use.input['action'] !== 'start' || command === undefined) return []
    const workingDirectory = asText(use.input['workdir'])
    // The process outlives the call: a successful start does not show how it ends, and its output is not read yet.
    return [
      {
        type: 'command',
        command,
        ...(workingDirectory === undefined ? {} : { workingDirectory: context.path(workingDirectory) }),
        ...(outcome.isSuccess === false ? { isSuccess: false } : {}),
      },
    ]
  },
})

/** Returns the sessions that the manager was asked to start. They run without it, so only their names are known. */
function requestedSessions(
  input: JsonObject,
  named: string | undefined,
  outcome: ReportedOutcome,
): readonly ActivityDraft[] {
  const tasks = asArray(input['tasks']) ?? []
  const names = tasks.map((task) => asText(asObject(task)?.['name'])).filter((name) => name !== undefined)
  if (names.length > 0) return names.flatMap((name) => subagent(undefined, name, outcome, true))
  return subagent(undefined, named, outcome, true)
}
