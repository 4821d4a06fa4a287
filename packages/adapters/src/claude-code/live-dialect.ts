import type { Dialect, DialectReader, Run } from '../kit/mapper.ts'
import { claudeCodeDialect } from './mapper.ts'

/** The print dialect plus the records that occur only in live mode. */
export const claudeCodeLiveDialect: Dialect = { ...claudeCodeDialect, open: (run) => liveReader(run) }

function liveReader(run: Run): DialectReader {
  const reader = claudeCodeDialect.open(run)
  return {
    record: (record) => {
      // Rules decide most requests. If a person is asked, `Asks` reports it.
      if (record['type'] === 'control_request') run.consume('control')
      else reader.record(record)
    },
    stderr: (text) => reader.stderr?.(text),
    end: (end) => reader.end?.(end),
  }
}
