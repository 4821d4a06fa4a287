import { kiloCodeFlavour } from '../real/kilo-code-cli.ts'
import { testOpencodePrint } from '../real/opencode-print.ts'
import { kiloCode } from './driver.ts'

testOpencodePrint(await kiloCodeFlavour(kiloCode), { isCutFatal: true })
