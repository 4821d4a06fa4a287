import type { JsonObject } from '@evener/protocol'
import { asObject } from '../kit/fields.ts'
import type { Dialect, DialectReader, Run } from '../kit/mapper.ts'
import { isInteraction } from './interaction.ts'
import { claudeCodeDialect } from './mapper.ts'

/** The same records, and those that only a process has that stays. */
export const claudeCodeLiveDialect: Dialect = { ...claudeCodeDialect, open: (run) => liveReader(run) }

function liveReader(run: Run): DialectReader {
  const reader = claudeCodeDialect.open(run)
  return {
    record: (record) => {
      if (isStateChange(record)) run.consume('lifecycle')
      // Not an approval: who is asked is asked for an answer.
      else if (isQuestion(record)) run.consume('control')
      else reader.record(record)
    },
    stderr: (text) => reader.stderr?.(text),
    end: (end) => reader.end?.(end),
  }
}

function isStateChange({ type, subtype }: JsonObject): boolean {
  return type === 'system' && subtype === 'session_state_changed'
}

function isQuestion({ type, request }: JsonObject): boolean {
  const asked = type === 'control_request' ? asObject(request) : undefined
  return asked?.['subtype'] === 'can_use_tool' && isInteraction(asked['tool_name'])
}
