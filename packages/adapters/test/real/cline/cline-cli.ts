import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { JsonObject } from '@inspan/protocol'
import type { PrintOptions } from '../../../src/launch/print-driver.ts'
import { clineProfile } from '../../../src/cline/profile.ts'
import type { AgentSetup, RealCli, RealScript } from '../bench.ts'
import { toyServer } from '../toy-server.ts'

const PROVIDER = 'openai-compatible'

const call = (name: string, input: JsonObject): RealScript => ({ turns: [{ toolCalls: [{ name, input }] }] })
const run = (command: string): RealScript => call('run_commands', { commands: [command] })

/** Cline for the tests that run it, in print and live mode. */
export const clineScenarios: Pick<RealCli, 'profile' | 'scripts' | 'expected' | 'options' | 'notes'> = {
  profile: clineProfile,
  scripts: {
    'command-succeeds': () => run('echo fine > /dev/null && echo fine'),
    'command-fails': () => run('echo bad; exit 3'),
    'read-range': ({ work }) =>
      call('read_files', { files: [{ path: join(work, 'hello.txt'), start_line: 2, end_line: 4 }] }),
    write: ({ work }) => call('editor', { path: join(work, 'new.txt'), new_text: 'made\n' }),
    edit: ({ work }) => call('editor', { path: join(work, 'src/app.js'), old_text: '= 41', new_text: '= 42' }),
    search: () => call('search_codebase', { queries: ['needle'] }),
    list: () => run('ls src'),
    parallel: () => ({
      turns: [
        {
          toolCalls: ['one', 'two'].map((word) => ({
            name: 'run_commands',
            input: { commands: [`echo ${word} > /dev/null; echo ${word}`] },
          })),
        },
      ],
    }),
    subagent: () => ({
      routes: [{ match: 'SUBTASK-77', turns: [{ text: 'All is fine.' }] }],
      ...call('spawn_agent', { systemPrompt: 'You check files.', task: 'SUBTASK-77 look at the files' }),
    }),
    skill: () => call('skills', { skill: 'greet' }),
    mcp: () => call('toy__echo', { text: 'hi' }),
    'endless-command': () => run('setsid tail -f /dev/null & touch started.txt; tail -f /dev/null'),
    touch: () => run('touch touched.txt'),
    'write-outside': ({ home }) => call('editor', { path: join(home, 'outside.txt'), new_text: 'made\n' }),
  },
  expected: {
    // Cline has no tool for listing, and what its shell does stays a command.
    list: () => [{ type: 'command', command: 'ls src', isSuccess: true }],
    // Cline does not report where a skill was found.
    skill: () => [{ type: 'skill', skillName: 'greet', isSuccess: true }],
  },
  options: { mcp: { mcp: toyServer } },
  notes: { list: 'It has no tool for that: it runs a command.', skill: 'It does not report where it was found.' },
}

/** Options for a driver of Cline that is logged in, as by `cline auth`, to the test's provider. */
export function clineOptions({ bin, place, provider, hasKey, options }: AgentSetup): PrintOptions {
  if (hasKey) logIn(place.home, `${provider.url}/v1`)
  return {
    bin,
    ...options,
    env: { HOME: place.home, TMPDIR: place.temp, CLINE_API_KEY: undefined, DO_NOT_TRACK: '1' },
  }
}

/** The ACP mode requires a key and a provider in the environment, and then uses the login. */
export function clineLiveOptions(setup: AgentSetup): PrintOptions & { readonly provider: string } {
  const { env, ...options } = clineOptions(setup)
  return { provider: PROVIDER, ...options, env: { ...env, ...(setup.hasKey ? { CLINE_API_KEY: 'sk-test' } : {}) } }
}

function logIn(home: string, baseUrl: string): void {
  const folder = join(home, '.cline', 'data', 'settings')
  mkdirSync(folder, { recursive: true })
  const settings = { provider: PROVIDER, apiKey: 'sk-test', model: 'model-1', baseUrl }
  const entry = { settings, updatedAt: '2026-01-01T00:00:00.000Z', tokenSource: 'manual' }
  const providers = { version: 1, lastUsedProvider: PROVIDER, modes: {}, providers: { [PROVIDER]: entry } }
  writeFileSync(join(folder, 'providers.json'), JSON.stringify(providers))
}
