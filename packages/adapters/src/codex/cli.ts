import type { Cli } from '../launch/cli.ts'
import { onFirstUse } from '../launch/on-first-use.ts'
import { codexAppServerDialect } from './app-server/mapper.ts'
import { codexDialect } from './mapper.ts'
import { codexProfile } from './profile.ts'

export const codexCli: Cli = {
  profile: codexProfile,
  dialect: codexDialect,
  agent: onFirstUse(codexProfile.id, async () => (await import('./driver.ts')).codex, { hasSessions: true }),
  live: onFirstUse(codexProfile.id, async () => (await import('./app-server/driver.ts')).codexLive, {
    hasSessions: true,
  }),
  liveDialect: codexAppServerDialect,
}
