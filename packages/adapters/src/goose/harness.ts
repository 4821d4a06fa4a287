import type { Harness } from '../launch/harness.ts'
import { gooseAcpDialect } from './acp/mapper.ts'
import { goose } from './driver.ts'
import { gooseLive } from './live.ts'
import { gooseDialect } from './mapper.ts'
import { gooseProfile } from './profile.ts'

export const gooseHarness: Harness = {
  profile: gooseProfile,
  dialect: gooseDialect,
  agent: goose,
  live: gooseLive,
  liveDialect: gooseAcpDialect,
}
