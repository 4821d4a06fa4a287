import { testRuns } from '../../../test/fixture-runs.ts'
import { OPENCODE_ACP_RUNS } from '../../../test/opencode-acp-runs.ts'
import { opencodeAcpDialect } from './mapper.ts'

// The expected activity, from the scripts that the runs were recorded with.
testRuns('OpenCode over ACP', opencodeAcpDialect, {
  'command-succeeds': ['command echo fine > /dev/null && echo fine → 0', 'agent: Done.'],
  'read-range': ['read /workspace/hello.txt:2-4', 'agent: Done.'],
  ...OPENCODE_ACP_RUNS,
})
