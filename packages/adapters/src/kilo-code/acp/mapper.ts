import { acpDialectOf } from '../../acp/mapper.ts'
import type { AcpHabits } from '../../acp/habits.ts'
import { kiloCodeDialect } from '../mapper.ts'
import type { Dialect } from '../../kit/mapper.ts'
import { opencodeHabits } from '../../opencode/acp/mapper.ts'

/** How `kilo acp` differs from the protocol: like OpenCode, with tools of its own. */
export const kiloCodeHabits: AcpHabits = { ...opencodeHabits, tools: kiloCodeDialect.tools }

export const kiloCodeAcpDialect: Dialect = acpDialectOf('kilo-code-acp', kiloCodeHabits)
