import type { Cli } from '../launch/cli.ts'
import { onFirstUse } from '../launch/on-first-use.ts'
import { clineAcpDialect } from './acp/mapper.ts'
import { clineDialect } from './mapper.ts'
import { clineProfile } from './profile.ts'

export const clineCli: Cli = {
  profile: clineProfile,
  dialect: clineDialect,
  agent: onFirstUse(clineProfile.id, async () => (await import('./driver.ts')).cline),
  live: onFirstUse(clineProfile.id, async () => (await import('./live.ts')).clineLive),
  liveDialect: clineAcpDialect,
}
