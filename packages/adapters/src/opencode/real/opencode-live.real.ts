import { testOpencodeLive } from './opencode-live.ts'
import { pathWithRipgrep } from '../../real/ripgrep.ts'
import { opencodeLive } from '../live.ts'
import { opencodeProfile } from '../profile.ts'

testOpencodeLive(
  { profile: opencodeProfile, prefix: 'OPENCODE', agent: opencodeLive, path: await pathWithRipgrep() },
  { isCutFatal: false, settings: '.config/opencode/opencode.json' },
)
