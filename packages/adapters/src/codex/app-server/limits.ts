import type { JsonObject } from '@inspan/protocol'
import type { AgentLimit } from '@inspan/protocol/driver'
import { asNumber, asObject, asText } from '../../kit/fields.ts'
import type { LimitReader } from '../../launch/cli-turn.ts'

/** Above this share Codex itself warns. */
const NEAR = 0.9

const MARK = 'account/rateLimits/updated'

/** Reads the limits of `account/rateLimits/updated`: one for hours, one for the week. */
export const codexLimits: LimitReader = { mark: MARK, read }

function read(record: JsonObject): readonly AgentLimit[] {
  if (record['method'] !== MARK) return []
  const limits = asObject(asObject(record['params'])?.['rateLimits'])
  const isReached = asText(limits?.['rateLimitReachedType']) !== undefined
  return ['primary', 'secondary'].flatMap((window) => {
    const { usedPercent, resetsAt } = asObject(limits?.[window]) ?? {}
    const percent = asNumber(usedPercent)
    if (percent === undefined) return []
    const used = percent / 100
    const at = asNumber(resetsAt)
    return [
      {
        name: `${asText(limits?.['limitId']) ?? 'account'}-${window}`,
        status: used >= 1 || (isReached && used >= NEAR) ? 'reached' : used >= NEAR ? 'near' : 'ok',
        ...(at === undefined ? {} : { resetsAt: at * 1_000 }),
        used,
      } as const,
    ]
  })
}
