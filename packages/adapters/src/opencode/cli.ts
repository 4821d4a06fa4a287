import type { Cli } from '../launch/cli.ts'
import { onFirstUse } from '../launch/on-first-use.ts'
import { opencodeAcpDialect } from './acp/mapper.ts'
import { opencodeDialect } from './mapper.ts'
import { opencodeProfile } from './profile.ts'

export const opencodeCli: Cli = {
  profile: opencodeProfile,
  dialect: opencodeDialect,
  agent: onFirstUse(opencodeProfile.id, async () => (await import('./driver.ts')).opencode, { hasSessions: true }),
  live: onFirstUse(opencodeProfile.id, async () => (await import('./live.ts')).opencodeLive, { hasSessions: true }),
  liveDialect: opencodeAcpDialect,
}
