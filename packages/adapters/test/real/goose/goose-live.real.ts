import { describe } from 'node:test'
import { testAcp, type AcpCli } from '../../acp/acp-scenarios.ts'
import { ALLOW_ALL } from '../../live/live-host.ts'
import type { RealCli } from '../bench.ts'
import { gooseOptions, gooseScenarios } from './goose-cli.ts'
import { testCutIsFatal, testNoInstructions, testSilentRetry } from '../other-ways.ts'
import { testCli } from '../scenarios.ts'
import { SIDE_BY_SIDE } from '../side-by-side.ts'
import { gooseLive } from '../../../src/goose/live.ts'

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
    'provider-429': 'it retries silently',
    'provider-cut': 'it does not ask again',
    'read-only': 'its host decides, call by call',
    'resume-at-anchor': 'its sessions cannot be resumed at an earlier message',
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
