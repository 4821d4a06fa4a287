import { describe } from 'node:test'
import { testAcp, type AcpCli } from '../../../test/acp/acp-scenarios.ts'
import { ALLOW_ALL } from '../../../test/live/live-host.ts'
import type { RealCli } from '../../real/bench.ts'
import { gooseOptions, gooseScenarios } from './goose-cli.ts'
import { testCutIsFatal, testNoInstructions, testSilentRetry } from '../../real/other-ways.ts'
import { testCli } from '../../real/scenarios.ts'
import { SIDE_BY_SIDE } from '../../real/side-by-side.ts'
import { gooseLive } from '../live.ts'

const cli: AcpCli = {
  ...gooseScenarios,
  agent: (setup) => gooseLive(gooseOptions(setup)),
  command: (command) => ({ name: 'shell', input: { command } }),
  write: (path) => ({ name: 'write', input: { path, content: 'made\n' } }),
  mcp: { name: 'toy__echo', input: { text: 'hi' } },
  refusesTogether: false,
  forgetsStopped: true,
}

testAcp(cli)

const asInPrint: RealCli = {
  ...cli,
  way: 'over ACP, as in print mode',
  host: ALLOW_ALL,
  scripts: {
    ...cli.scripts,
    // The subagent's id is reported only with what the subagent does.
    subagent: () => ({
      routes: [
        { match: 'SUBTASK-77', turns: [{ toolCalls: [cli.command('ls > /dev/null')] }, { text: 'All is fine.' }] },
      ],
      turns: [{ toolCalls: [{ name: 'delegate', input: { instructions: 'SUBTASK-77 look at the files' } }] }],
    }),
  },
  options: {
    ...cli.options,
    // Its subagents do not ask, so they have to be allowed.
    subagent: { allowUngoverned: true },
    // A model that Goose knows to take images.
    image: { model: 'gpt-4o' },
  },
  unsupported: {
    instructions: 'the protocol has no place for them',
    'provider-429': 'it retries without a word',
    'provider-cut': 'it does not ask again',
    'read-only': 'its host decides, call by call',
    'resume-at-anchor': 'its messages cannot be gone back to',
    touch: 'its host decides, call by call',
    'write-outside': 'its host decides, call by call',
  },
}

testCli(asInPrint)

describe('Goose over ACP, its own way', SIDE_BY_SIDE, () => {
  testCutIsFatal(asInPrint)
  testNoInstructions(asInPrint)
  testSilentRetry(asInPrint)
})
