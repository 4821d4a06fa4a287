import { join } from 'node:path'
import type { ScriptedToolCall } from '@inspan/testing'
import type { CodexLiveOptions } from '../../../src/codex/app-server/driver.ts'
import { codexProfile } from '../../../src/codex/profile.ts'
import type { AgentSetup, RealCli, RealScript } from '../bench.ts'
import { toyServer } from '../toy-server.ts'

/** The longest time that Codex accepts. A command that takes longer goes on in the background. */
const YIELD_MS = 30_000

export const execCommand = (cmd: string): ScriptedToolCall => ({
  name: 'exec_command',
  input: { cmd, yield_time_ms: YIELD_MS },
})
const run = (cmd: string): RealScript => ({ turns: [{ toolCalls: [execCommand(cmd)] }] })
const patch = (input: string): RealScript => ({
  turns: [{ toolCalls: [{ name: 'apply_patch', custom: true, input }] }],
})
const AGENT_ID = '{{re:agent_id[^0-9a-f]+([0-9a-f-]{36})}}'

/** Codex for the tests that run it, in print and live mode. */
export const codexScenarios: Pick<RealCli, 'profile' | 'scripts' | 'expected' | 'options' | 'notes'> = {
  profile: codexProfile,
  scripts: {
    'command-succeeds': () => run('echo fine > /dev/null && echo fine'),
    'command-fails': () => run('echo bad; exit 3'),
    'read-range': () => run(`sed -n '2,4p' hello.txt`),
    write: () => patch('*** Begin Patch\n*** Add File: new.txt\n+made\n*** End Patch'),
    edit: () =>
      patch(
        '*** Begin Patch\n*** Update File: src/app.js\n@@\n-export const answer = 41 // needle\n+export const answer = 42 // needle\n*** End Patch',
      ),
    search: () => run('grep -rn needle src'),
    list: () => run('ls src'),
    parallel: () => ({
      turns: [
        {
          toolCalls: ['one', 'two'].map((word) => execCommand(`echo ${word} > /dev/null; echo ${word}`)),
        },
      ],
    }),
    subagent: () => ({
      routes: [{ match: 'SUBTASK-77', turns: [{ text: 'All is fine.' }] }],
      turns: [
        { toolCalls: [{ name: 'spawn_agent', namespace: 'multi_agent_v1', input: { message: 'SUBTASK-77 look' } }] },
        {
          toolCalls: [
            { name: 'wait_agent', namespace: 'multi_agent_v1', input: { targets: [AGENT_ID], timeout_ms: 600_000 } },
          ],
        },
      ],
    }),
    skill: () => run('cat .agents/skills/greet/SKILL.md'),
    mcp: () => ({ turns: [{ toolCalls: [{ name: 'echo', namespace: 'mcp__toy', input: { text: 'hi' } }] }] }),
    'endless-command': () => run('setsid tail -f /dev/null & touch started.txt; tail -f /dev/null'),
    'write-outside': ({ home }) => run(`touch ${home}/outside.txt`),
    touch: () => run('touch touched.txt'),
  },
  expected: {
    // The skills of Codex are files that it reads.
    skill: ({ work }) => [{ type: 'read', path: join(work, '.agents/skills/greet/SKILL.md'), isSuccess: true }],
  },
  options: { mcp: { mcp: toyServer }, subagent: { model: 'scripted-model' } },
  notes: { skill: 'Its skills are files that it reads.' },
}

/** Options for a driver of Codex that uses the test's provider. */
export function codexOptions({ bin, place, provider, hasKey, options }: AgentSetup): CodexLiveOptions {
  return {
    bin,
    // A model with plain function tools; others call them from JavaScript.
    model: 'gpt-5.5',
    ...options,
    config: {
      model_provider: 'scripted',
      'model_providers.scripted': {
        name: 'scripted',
        base_url: `${provider.url}/v1`,
        env_key: 'CODEX_API_KEY',
        wire_api: 'responses',
        request_max_retries: 1,
        stream_max_retries: 1,
      },
      model_reasoning_summary: 'detailed',
      // All directories of the test are below the temporary one.
      sandbox_workspace_write: { exclude_slash_tmp: true, exclude_tmpdir_env_var: true },
    },
    env: {
      HOME: place.home,
      CODEX_HOME: undefined,
      TMPDIR: place.temp,
      CODEX_API_KEY: hasKey ? 'sk-test' : undefined,
    },
  }
}
