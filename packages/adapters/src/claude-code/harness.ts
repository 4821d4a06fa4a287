import type { Harness } from '../launch/harness.ts'
import { claudeCode } from './driver.ts'
import { claudeCodeLiveDialect } from './live-dialect.ts'
import { claudeCodeLive } from './live.ts'
import { claudeCodeDialect } from './mapper.ts'
import { claudeCodeProfile } from './profile.ts'

export const claudeCodeHarness: Harness = {
  profile: claudeCodeProfile,
  dialect: claudeCodeDialect,
  agent: claudeCode,
  live: claudeCodeLive,
  liveDialect: claudeCodeLiveDialect,
}
