import { testOpencodePrint } from './opencode-print.ts'
import { pathWithRipgrep } from '../ripgrep.ts'
import { opencode } from '../../../src/opencode/driver.ts'
import { opencodeProfile } from '../../../src/opencode/profile.ts'

testOpencodePrint(
  { profile: opencodeProfile, prefix: 'OPENCODE', agent: opencode, path: await pathWithRipgrep() },
  { isCutFatal: false },
)
