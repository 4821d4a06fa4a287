import type { Cli } from '../launch/cli.ts'
import { onFirstUse } from '../launch/on-first-use.ts'
import { piDialect } from './mapper.ts'
import { piProfile } from './profile.ts'

export const piCli: Cli = {
  profile: piProfile,
  dialect: piDialect,
  agent: onFirstUse(piProfile.id, async () => (await import('./driver.ts')).pi, { hasSessions: true }),
  live: onFirstUse(piProfile.id, async () => (await import('./live.ts')).piLive, { hasSessions: true }),
}
