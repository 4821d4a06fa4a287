import { ACP_RUNS, SMALL_ACP_RUNS } from '../../../test/acp/acp-runs.ts'
import { testRuns } from '../../../test/fixture-runs.ts'
import { clineAcpDialect } from './mapper.ts'

// The expected activity, from the scripts that the runs were recorded with.
testRuns('Cline over ACP', clineAcpDialect, {
  ...ACP_RUNS,
  ...SMALL_ACP_RUNS,
  'command-succeeds': ['command echo fine > /dev/null && echo fine', 'agent: Done.'],
  parallel: ['command echo one > /dev/null; echo one', 'command echo two > /dev/null; echo two', 'agent: Done.'],
  search: ['search needle', 'agent: Done.'],
  // Cline takes its model for one that writes patches, so it does not offer its editor.
  write: ['write /workspace/new.txt ✗', 'agent: Done.'],
  files: [
    'read /workspace/hello.txt:2-4',
    'read /workspace/missing.txt ✗',
    // Cline has no tool for listing, and what its shell does stays a command.
    'command ls src',
    'search needle',
    'write /workspace/new.txt',
    'write /workspace/src/app.js',
    'write /workspace/src/app.js ✗',
    'agent: Done.',
  ],
  commands: [
    'agent: I run it.',
    'command echo fine > /dev/null && echo fine',
    'command echo bad; exit 3 → 3 ✗',
    'command echo one > /dev/null; echo one',
    'command echo two > /dev/null; echo two',
    'agent: Done.',
  ],
  subagent: ['subagent_started ? ?', 'command ls > /dev/null', 'subagent_completed ?', 'agent: Done.'],
  unauthorized: ['error [-32603]: Internal error: invalid key'],
})
