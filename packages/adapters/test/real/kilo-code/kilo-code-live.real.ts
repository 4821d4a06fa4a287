import { kiloCodeFlavour } from './kilo-code-cli.ts'
import { testOpencodeLive } from '../opencode/opencode-live.ts'
import { kiloCodeLive } from '../../../src/kilo-code/live.ts'

testOpencodeLive(await kiloCodeFlavour(kiloCodeLive), { isCutFatal: true, settings: '.config/kilo/kilo.json' })
