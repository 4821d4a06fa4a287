import type { Cli } from '../launch/cli.ts'
import { onFirstUse } from '../launch/on-first-use.ts'
import { claudeCodeLiveDialect } from './live-dialect.ts'
import { claudeCodeDialect } from './mapper.ts'
import { claudeCodeProfile } from './profile.ts'

export const claudeCodeCli: Cli = {
  profile: claudeCodeProfile,
  dialect: claudeCodeDialect,
  agent: onFirstUse(claudeCodeProfile.id, async () => (await import('./driver.ts')).claudeCode, { hasSessions: true }),
  live: onFirstUse(claudeCodeProfile.id, async () => (await import('./live.ts')).claudeCodeLive, { hasSessions: true }),
  liveDialect: claudeCodeLiveDialect,
}
