import { testOpencodePrint } from './opencode-print.ts'
import { pathWithRipgrep } from '../../real/ripgrep.ts'
import { opencode } from '../driver.ts'
import { opencodeProfile } from '../profile.ts'

testOpencodePrint(
  { profile: opencodeProfile, prefix: 'OPENCODE', agent: opencode, path: await pathWithRipgrep() },
  { isCutFatal: false },
)
