import type { AgentLimit } from '@inspan/protocol/driver'
import { asNumber, asObject, asText } from '../../kit/fields.ts'
import { parseRecord } from '../../kit/json-line.ts'

/** Above this share Codex itself warns. */
const NEAR = 0.9

/** Reads the limits of `account/rateLimits/updated`: one for hours, one for the week. */
export function codexLimits(line: string): readonly AgentLimit[] {
  if (!line.includes('account/rateLimits/updated')) return []
  const record = parseRecord(line)
  if (record?.['method'] !== 'account/rateLimits/updated') return []
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
