import type { Harness } from '../launch/harness.ts'
import { onFirstUse } from '../launch/on-first-use.ts'
import { piDialect } from './mapper.ts'
import { piProfile } from './profile.ts'

export const piHarness: Harness = {
  profile: piProfile,
  dialect: piDialect,
  agent: onFirstUse(piProfile.id, async () => (await import('./driver.ts')).pi, { hasSessions: true }),
  live: onFirstUse(piProfile.id, async () => (await import('./live.ts')).piLive, { hasSessions: true }),
}
