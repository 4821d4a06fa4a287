import type { Dialect, DialectReader, Run } from '../kit/mapper.ts'
import { claudeCodeDialect } from './mapper.ts'

/** The same records, and those that only a process has that stays. */
export const claudeCodeLiveDialect: Dialect = { ...claudeCodeDialect, open: (run) => liveReader(run) }

function liveReader(run: Run): DialectReader {
  const reader = claudeCodeDialect.open(run)
  return {
    record: (record) => {
      // Most of what it asks is decided by rules; that a person is asked is said by whoever asks.
      if (record['type'] === 'control_request') run.consume('control')
      else reader.record(record)
    },
    stderr: (text) => reader.stderr?.(text),
    end: (end) => reader.end?.(end),
  }
}
