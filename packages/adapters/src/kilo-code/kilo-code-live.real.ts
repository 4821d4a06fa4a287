import { kiloCodeFlavour } from '../real/kilo-code-cli.ts'
import { testOpencodeLive } from '../real/opencode-live.ts'
import { kiloCodeLive } from './live.ts'

testOpencodeLive(await kiloCodeFlavour(kiloCodeLive), { isCutFatal: true, settings: '.config/kilo/kilo.json' })
