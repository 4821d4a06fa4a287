import { testOpencodeLive } from './opencode-live.ts'
import { pathWithRipgrep } from '../ripgrep.ts'
import { opencodeLive } from '../../../src/opencode/live.ts'
import { opencodeProfile } from '../../../src/opencode/profile.ts'

testOpencodeLive(
  { profile: opencodeProfile, prefix: 'OPENCODE', agent: opencodeLive, path: await pathWithRipgrep() },
  { isCutFatal: false, settings: '.config/opencode/opencode.json' },
)
