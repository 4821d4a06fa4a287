import type { Harness } from '../launch/harness.ts'
import { onFirstUse } from '../launch/on-first-use.ts'
import { antigravityDialect } from './mapper.ts'
import { antigravityProfile } from './profile.ts'

export const antigravityHarness: Harness = {
  profile: antigravityProfile,
  dialect: antigravityDialect,
  agent: onFirstUse(antigravityProfile.id, async () => (await import('./driver.ts')).antigravity),
}
