import type { JsonObject } from '@inspan/protocol'
import type { AcpHabits, NotTheAgent } from '../../acp/habits.ts'
import { acpDialectOf } from '../../acp/mapper.ts'
import { callOutcome } from '../../acp/outcome.ts'
import type { AcpToolCall } from '../../acp/tool-call.ts'
import { beginsAsFailure } from '../failures.ts'
import { gooseTools, isOwnExtension } from '../tools.ts'
import { asArray, asObject, asText, NO_FIELDS } from '../../kit/fields.ts'
import type { Dialect } from '../../kit/mapper.ts'
import type { ReportedOutcome } from '../../kit/tool-table.ts'

/** How `goose acp` differs from the protocol. */
export const gooseHabits: AcpHabits = {
  tools: gooseTools,
  toolName: (call) => asText(toolOf(call)['toolName']),
  serverName: (call) => {
    const extension = asText(toolOf(call)['extensionName'])
    return extension === undefined || isOwnExtension(extension) ? undefined : extension
  },
  outcome,
  progress,
  speaker,
  // It reports the tokens of the last model call, even if the turn made none.
  hasPartialUsage: true,
}

export const gooseAcpDialect: Dialect = acpDialectOf('goose-acp', gooseHabits)

function toolOf({ meta }: AcpToolCall): JsonObject {
  return asObject(asObject(meta['goose'])?.['toolCall']) ?? NO_FIELDS
}

/** The subagent's id is reported only while it works. */
function outcome(call: AcpToolCall): ReportedOutcome {
  const outcomeOfCall = callOutcome(call, {})
  const data = asObject(notificationOf(call.meta)['data'])
  const subagent = asText(data?.['subagent_id'])
  return subagent === undefined ? outcomeOfCall : { ...outcomeOfCall, detail: { subagent_session_id: subagent } }
}

function progress(update: JsonObject): string | undefined {
  const chunks = asArray(notificationOf(asObject(update['_meta']) ?? NO_FIELDS)['chunks']) ?? []
  const texts = chunks.map((chunk) => asText(asObject(chunk)?.['output']) ?? '')
  return texts.length === 0 ? undefined : texts.join('')
}

function notificationOf(meta: JsonObject): JsonObject {
  return asObject(asObject(meta['toolNotification'])?.['params']) ?? NO_FIELDS
}

function speaker(text: string, update: JsonObject): NotTheAgent | undefined {
  const goose = asObject(asObject(update['_meta'])?.['goose']) ?? NO_FIELDS
  if (goose['fallbackContent'] === true) return { synthetic: true }
  return beginsAsFailure(text) ? { failure: text } : undefined
}
