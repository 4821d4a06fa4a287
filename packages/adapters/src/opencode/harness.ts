import type { Harness } from '../launch/harness.ts'
import { opencodeAcpDialect } from './acp/mapper.ts'
import { opencode } from './driver.ts'
import { opencodeLive } from './live.ts'
import { opencodeDialect } from './mapper.ts'
import { opencodeProfile } from './profile.ts'

export const opencodeHarness: Harness = {
  profile: opencodeProfile,
  dialect: opencodeDialect,
  agent: opencode,
  live: opencodeLive,
  liveDialect: opencodeAcpDialect,
}
