import type { Cli } from '../../src/launch/cli.ts'
import { ninth } from './driver.ts'
import { ninthDialect } from './mapper.ts'
import { ninthProfile } from './profile.ts'

export const ninthCli: Cli = { profile: ninthProfile, dialect: ninthDialect, agent: ninth }
