import type { Harness } from '../launch/harness.ts'
import { codexAppServerDialect } from './app-server/mapper.ts'
import { codex } from './driver.ts'
import { codexLive } from './app-server/driver.ts'
import { codexDialect } from './mapper.ts'
import { codexProfile } from './profile.ts'

export const codexHarness: Harness = {
  profile: codexProfile,
  dialect: codexDialect,
  agent: codex,
  live: codexLive,
  liveDialect: codexAppServerDialect,
}
