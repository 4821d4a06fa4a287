import type { Harness } from '../launch/harness.ts'
import { clineAcpDialect } from './acp/mapper.ts'
import { cline } from './driver.ts'
import { clineLive } from './live.ts'
import { clineDialect } from './mapper.ts'
import { clineProfile } from './profile.ts'

export const clineHarness: Harness = {
  profile: clineProfile,
  dialect: clineDialect,
  agent: cline,
  live: clineLive,
  liveDialect: clineAcpDialect,
}
