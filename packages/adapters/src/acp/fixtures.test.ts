import { testRuns } from '../../test/fixture-runs.ts'
import { acpDialect } from './mapper.ts'

/** Runs of an agent built on the protocol's own library, without any habits configured (`test/acp/sdk-agent.ts`). */
testRuns('ACP: recorded runs of a foreign agent', acpDialect, {
  'files-and-commands': [
    'read /workspace/a.txt:1-',
    'read /workspace/missing.txt:1- ✗',
    'search two in /workspace',
    'search nothing-like-it in /workspace',
    'write /workspace/b.txt',
    'read /workspace/a.txt',
    'command echo bad; exit 3 → 3 ✗',
    'agent: All of it is done.',
  ],
  declined: [
    'agent: I ask.',
    'write /workspace/b.txt ✗',
    'command rm a.txt ✗',
    'read /workspace/a.txt:1-',
    'agent: As you like.',
  ],
  cancelled: ['agent: I begin.', 'command tail -f /dev/null → 130 ✗'],
})
