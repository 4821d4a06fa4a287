import type { Cli } from '../launch/cli.ts'
import { onFirstUse } from '../launch/on-first-use.ts'
import { gooseAcpDialect } from './acp/mapper.ts'
import { gooseDialect } from './mapper.ts'
import { gooseProfile } from './profile.ts'

export const gooseCli: Cli = {
  profile: gooseProfile,
  dialect: gooseDialect,
  agent: onFirstUse(gooseProfile.id, async () => (await import('./driver.ts')).goose),
  live: onFirstUse(gooseProfile.id, async () => (await import('./live.ts')).gooseLive),
  liveDialect: gooseAcpDialect,
}
