import type { JsonObject } from '@inspan/protocol'
import type { AgentLimit } from '@inspan/protocol/driver'
import { asNumber, asObject, asText, firstText } from '../kit/fields.ts'
import type { LimitReader } from '../launch/cli-turn.ts'

const MARK = 'rate_limit_event'

/** Reads the usage limit of a `rate_limit_event`, which comes with a subscription. */
export const claudeLimits: LimitReader = { mark: MARK, read }

function read(record: JsonObject): readonly AgentLimit[] {
  if (record['type'] !== MARK) return []
  const info = asObject(record['rate_limit_info']) ?? record
  const status = asText(info['status'])
  if (status === undefined) return []
  const resetsAt = asNumber(info['resetsAt'])
  const used = asNumber(info['utilization'])
  return [
    {
      name: firstText(info, 'rateLimitType', 'rate_limit_type') ?? 'account',
      status: status === 'allowed' ? 'ok' : status.startsWith('allowed') ? 'near' : 'reached',
      ...(resetsAt === undefined ? {} : { resetsAt: resetsAt * 1_000 }),
      ...(used === undefined ? {} : { used }),
    },
  ]
}
