import { join } from 'node:path'
import type { ClaudeLiveOptions } from '../../../src/claude-code/live.ts'
import { claudeCodeProfile } from '../../../src/claude-code/profile.ts'
import type { AgentSetup, RealCli, RealScript } from '../bench.ts'
import { toyServer } from '../toy-server.ts'

const call = (name: string, input: Readonly<Record<string, string | number | boolean>>): RealScript => ({
  turns: [{ toolCalls: [{ name, input }] }],
})
const bash = (command: string): RealScript => call('Bash', { command })

/** Claude Code for the tests that run it, in print and live mode. */
export const claudeCodeScenarios: Pick<RealCli, 'profile' | 'scripts' | 'expected' | 'options'> = {
  profile: claudeCodeProfile,
  scripts: {
    'command-succeeds': () => bash('echo fine > /dev/null && echo fine'),
    'command-fails': () => bash('echo bad; exit 3'),
    'read-range': ({ work }) => call('Read', { file_path: join(work, 'hello.txt'), offset: 2, limit: 3 }),
    write: ({ work }) => call('Write', { file_path: join(work, 'new.txt'), content: 'made\n' }),
    edit: ({ work }) => ({
      turns: [
        { toolCalls: [{ name: 'Read', input: { file_path: join(work, 'src/app.js') } }] },
        {
          toolCalls: [
            { name: 'Edit', input: { file_path: join(work, 'src/app.js'), old_string: '= 41', new_string: '= 42' } },
          ],
        },
      ],
    }),
    search: () => call('Grep', { pattern: 'needle' }),
    list: () => bash('ls src'),
    parallel: () => ({
      turns: [
        {
          toolCalls: [
            { name: 'Bash', input: { command: 'echo one > /dev/null; echo one' } },
            { name: 'Bash', input: { command: 'echo two > /dev/null; echo two' } },
          ],
        },
      ],
    }),
    subagent: () => ({
      routes: [{ match: 'SUBTASK-77', turns: [{ text: 'All is fine.' }] }],
      turns: [
        {
          toolCalls: [
            {
              name: 'Agent',
              input: {
                description: 'Check files',
                prompt: 'SUBTASK-77 look at the files',
                subagent_type: 'general-purpose',
                run_in_background: false,
              },
            },
          ],
        },
      ],
    }),
    skill: () => call('Skill', { skill: 'greet' }),
    mcp: () => ({
      turns: [
        { toolCalls: [{ name: 'ToolSearch', input: { query: 'select:mcp__toy__echo', max_results: 5 } }] },
        { toolCalls: [{ name: 'mcp__toy__echo', input: { text: 'hi' } }] },
      ],
    }),
    'endless-command': () => bash('setsid tail -f /dev/null & touch started.txt; tail -f /dev/null'),
    'write-outside': ({ home }) => call('Write', { file_path: join(home, 'outside.txt'), content: 'made\n' }),
    touch: () => bash('touch touched.txt'),
  },
  expected: {
    edit: ({ work }) => [
      { type: 'read', path: join(work, 'src/app.js'), isSuccess: true },
      { type: 'write', path: join(work, 'src/app.js'), isSuccess: true },
    ],
  },
  options: { mcp: { mcp: toyServer } },
}

/** Options for a driver of Claude Code that uses the test's provider. */
export function claudeCodeOptions({ bin, place, provider, hasKey, options }: AgentSetup): ClaudeLiveOptions {
  return {
    bin,
    settings: ['project'],
    ...options,
    env: {
      HOME: place.home,
      TMPDIR: place.temp,
      ANTHROPIC_BASE_URL: provider.url,
      ANTHROPIC_API_KEY: hasKey ? 'sk-ant-test' : undefined,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      CLAUDE_CODE_MAX_RETRIES: '1',
    },
  }
}
