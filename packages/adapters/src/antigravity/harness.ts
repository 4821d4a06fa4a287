import type { Harness } from '../launch/harness.ts'
import { antigravity } from './driver.ts'
import { antigravityDialect } from './mapper.ts'
import { antigravityProfile } from './profile.ts'

export const antigravityHarness: Harness = {
  profile: antigravityProfile,
  dialect: antigravityDialect,
  agent: antigravity,
}
