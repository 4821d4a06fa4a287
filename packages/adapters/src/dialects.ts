import { acpDialect } from './acp/mapper.ts'
import { clis } from './clis.ts'
import type { Dialect } from './kit/mapper.ts'

/** The dialects of what each CLI prints. A dialect's id is the name of its folder. */
export const dialects: readonly Dialect[] = clis.map(({ dialect }) => dialect)

/** The dialects of CLIs in live mode, as their recordings hold them. */
export const liveDialects: readonly Dialect[] = [
  acpDialect,
  ...clis.flatMap(({ liveDialect }) => (liveDialect === undefined ? [] : [liveDialect])),
]
