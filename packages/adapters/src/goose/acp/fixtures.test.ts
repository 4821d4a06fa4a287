import { ACP_RUNS, SMALL_ACP_RUNS } from '../../../test/acp/acp-runs.ts'
import { testRuns } from '../../../test/fixture-runs.ts'
import { gooseAcpDialect } from './mapper.ts'

// The expected activity, from the scripts that the runs were recorded with.
testRuns('Goose over ACP', gooseAcpDialect, {
  ...ACP_RUNS,
  ...SMALL_ACP_RUNS,
  'command-succeeds': ['command echo fine > /dev/null && echo fine → 0', 'agent: Done.'],
  parallel: [
    'command echo one > /dev/null; echo one → 0',
    'command echo two > /dev/null; echo two → 0',
    'agent: Done.',
  ],
  search: ['search needle in /workspace/src', 'agent: Done.'],
  write: ['write /workspace/new.txt', 'agent: Done.'],
  files: [
    'read /workspace/hello.txt:2-4',
    'read /workspace/missing.txt ✗',
    'list /workspace/src',
    'search needle in /workspace/src',
    'write /workspace/new.txt',
    'write /workspace/src/app.js',
    'write /workspace/src/app.js ✗',
    'agent: Done.',
  ],
  subagent: ['subagent_completed ?', 'agent: Done.'],
  unauthorized: [
    'error [auth-required]: Authentication required. To go on: Run `goose configure` to set up your AI provider and API key.',
  ],
})
