import { kiloCodeFlavour } from './kilo-code-cli.ts'
import { testOpencodePrint } from '../../opencode/real/opencode-print.ts'
import { kiloCode } from '../driver.ts'

testOpencodePrint(await kiloCodeFlavour(kiloCode), { isCutFatal: true })
