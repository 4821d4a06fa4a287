import { acpDialect } from './acp/mapper.ts'
import { harnesses } from './harnesses.ts'
import type { Dialect } from './kit/mapper.ts'

/** Every program whose output can be read, by the id its folder has. */
export const dialects: readonly Dialect[] = harnesses.map(({ dialect }) => dialect)

/** What programs say that are talked to while they run, as their recordings hold it. */
export const liveDialects: readonly Dialect[] = [
  acpDialect,
  ...harnesses.flatMap(({ liveDialect }) => (liveDialect === undefined ? [] : [liveDialect])),
]
