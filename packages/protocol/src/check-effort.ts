import type { Effort } from './driver.ts'
import { InspanError } from './errors.ts'

/** Throws `unsupported` for an effort that the agent has no word for. Returns the level, for those that it has. */
export function checkEffort(who: string, effort: Effort, levels: readonly Effort[]): Effort {
  if (levels.includes(effort)) return effort
  const hint = levels.length === 0 ? 'Leave the effort out.' : `It takes ${levels.join(', ')}.`
  throw new InspanError('unsupported', `${who} has no effort "${effort}".`, { hint })
}
