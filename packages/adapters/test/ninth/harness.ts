import type { Harness } from '../../src/launch/harness.ts'
import { ninth } from './driver.ts'
import { ninthDialect } from './mapper.ts'
import { ninthProfile } from './profile.ts'

export const ninthHarness: Harness = { profile: ninthProfile, dialect: ninthDialect, agent: ninth }
