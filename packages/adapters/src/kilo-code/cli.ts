import type { Cli } from '../launch/cli.ts'
import { onFirstUse } from '../launch/on-first-use.ts'
import { kiloCodeAcpDialect } from './acp/mapper.ts'
import { kiloCodeDialect } from './mapper.ts'
import { kiloCodeProfile } from './profile.ts'

export const kiloCodeCli: Cli = {
  profile: kiloCodeProfile,
  dialect: kiloCodeDialect,
  agent: onFirstUse(kiloCodeProfile.id, async () => (await import('./driver.ts')).kiloCode, { hasSessions: true }),
  live: onFirstUse(kiloCodeProfile.id, async () => (await import('./live.ts')).kiloCodeLive, { hasSessions: true }),
  liveDialect: kiloCodeAcpDialect,
}
