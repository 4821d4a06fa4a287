import type { Cli } from '../launch/cli.ts'
import { onFirstUse } from '../launch/on-first-use.ts'
import { antigravityDialect } from './mapper.ts'
import { antigravityProfile } from './profile.ts'

export const antigravityCli: Cli = {
  profile: antigravityProfile,
  dialect: antigravityDialect,
  agent: onFirstUse(antigravityProfile.id, async () => (await import('./driver.ts')).antigravity),
}
