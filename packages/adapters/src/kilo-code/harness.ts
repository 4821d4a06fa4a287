import type { Harness } from '../launch/harness.ts'
import { kiloCodeAcpDialect } from './acp/mapper.ts'
import { kiloCode } from './driver.ts'
import { kiloCodeLive } from './live.ts'
import { kiloCodeDialect } from './mapper.ts'
import { kiloCodeProfile } from './profile.ts'

export const kiloCodeHarness: Harness = {
  profile: kiloCodeProfile,
  dialect: kiloCodeDialect,
  agent: kiloCode,
  live: kiloCodeLive,
  liveDialect: kiloCodeAcpDialect,
}
