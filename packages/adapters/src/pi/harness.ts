import type { Harness } from '../launch/harness.ts'
import { pi } from './driver.ts'
import { piLive } from './live.ts'
import { piDialect } from './mapper.ts'
import { piProfile } from './profile.ts'

export const piHarness: Harness = {
  profile: piProfile,
  dialect: piDialect,
  agent: pi,
  live: piLive,
}
