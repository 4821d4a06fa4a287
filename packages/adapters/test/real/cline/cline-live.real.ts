import { describe } from 'node:test'
import { testAcp, type AcpCli } from '../../acp/acp-scenarios.ts'
import { ALLOW_ALL } from '../../live/live-host.ts'
import type { RealCli } from '../bench.ts'
import { clineLiveOptions, clineScenarios } from './cline-cli.ts'
import { testCutIsFatal, testNoImages, testNoInstructions, testNoSubagents, testSilentRetry } from '../other-ways.ts'
import { testCli } from '../scenarios.ts'
import { SIDE_BY_SIDE } from '../side-by-side.ts'
import { clineLive } from '../../../src/cline/live.ts'

const patch = (input: string): { readonly name: string; readonly input: { readonly input: string } } => ({
  name: 'apply_patch',
  input: { input: `*** Begin Patch\n${input}\n*** End Patch` },
})

const cli: AcpCli = {
  ...clineScenarios,
  agent: (setup) => clineLive(clineLiveOptions(setup)),
  command: (command) => ({ name: 'run_commands', input: { commands: [command] } }),
  write: (file) => patch(`*** Add File: ${file}\n+made`),
  mcp: { name: 'toy__echo', input: { text: 'hi' } },
  refusesTogether: false,
  forgetsStopped: false,
}

testAcp(cli)

const asInPrint: RealCli = {
  ...cli,
  way: 'over ACP, as in print mode',
  host: ALLOW_ALL,
  // Cline takes every model for one that writes patches.
  scripts: {
    ...cli.scripts,
    write: () => ({ turns: [{ toolCalls: [cli.write('new.txt')] }] }),
    edit: () => ({
      turns: [
        {
          toolCalls: [
            patch(
              '*** Update File: src/app.js\n@@\n-export const answer = 41 // needle\n+export const answer = 42 // needle',
            ),
          ],
        },
      ],
    }),
  },
  unsupported: {
    image: 'it drops them',
    instructions: 'the protocol has no place for them',
    'provider-429': 'it retries silently',
    'provider-cut': 'it does not ask again',
    'read-only': 'its host decides, call by call',
    subagent: 'it is not there, as it would ask nobody',
    'resume-at-anchor': 'its sessions cannot be resumed at an earlier message',
    touch: 'its host decides, call by call',
    'write-outside': 'its host decides, call by call',
  },
}

testCli(asInPrint)

describe('Cline over ACP, its own way', SIDE_BY_SIDE, () => {
  testCutIsFatal(asInPrint)
  testNoInstructions(asInPrint)
  testSilentRetry(asInPrint)
  testNoImages(asInPrint)
  testNoSubagents(asInPrint, 'spawn_agent', 'It has none in this mode, because they would ask nobody.')
})
