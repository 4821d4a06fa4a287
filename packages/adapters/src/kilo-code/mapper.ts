import { extendTable } from '../kit/tool-table.ts'
import type { Dialect } from '../kit/mapper.ts'
import { OpencodeReader } from '../opencode/mapper.ts'
import { opencodeTools } from '../opencode/tools.ts'
import { kiloTools } from './tools.ts'

/** Reads `kilo run --format json`: the records of OpenCode, on which it is built, with tools of its own. */
export const kiloCodeDialect: Dialect = {
  id: 'kilo-code',
  version: 1,
  tools: extendTable(opencodeTools, kiloTools),
  open: (run) => new OpencodeReader(run),
}
