import { testRuns } from '../../../test/fixture-runs.ts'
import { OPENCODE_ACP_RUNS } from '../../../test/opencode-acp-runs.ts'
import { kiloCodeAcpDialect } from './mapper.ts'

// The expected activity, from the scripts that the runs were recorded with.
testRuns('Kilo Code over ACP', kiloCodeAcpDialect, OPENCODE_ACP_RUNS)
