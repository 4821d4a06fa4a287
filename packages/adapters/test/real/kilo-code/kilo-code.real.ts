import { kiloCodeFlavour } from './kilo-code-cli.ts'
import { testOpencodePrint } from '../opencode/opencode-print.ts'
import { kiloCode } from '../../../src/kilo-code/driver.ts'

testOpencodePrint(await kiloCodeFlavour(kiloCode), { isCutFatal: true })
