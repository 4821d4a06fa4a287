import { kiloCodeFlavour } from './kilo-code-cli.ts'
import { testOpencodeLive } from '../../opencode/real/opencode-live.ts'
import { kiloCodeLive } from '../live.ts'

testOpencodeLive(await kiloCodeFlavour(kiloCodeLive), { isCutFatal: true, settings: '.config/kilo/kilo.json' })
