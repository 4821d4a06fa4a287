import { join } from 'node:path'
import type { JsonObject } from '@inspan/protocol'
import type { PrintOptions } from '../../../src/launch/print-driver.ts'
import type { CliProfile } from '../../../src/launch/profile.ts'
import { gooseProfile } from '../../../src/goose/profile.ts'
import type { AgentSetup, RealCli, RealScript } from '../bench.ts'
import { toyServer } from '../toy-server.ts'

const call = (name: string, input: JsonObject): RealScript => ({ turns: [{ toolCalls: [{ name, input }] }] })
const shell = (command: string): RealScript => call('shell', { command })

/** The executable of the npm package is named after the platform. */
export const realGoose: CliProfile = { ...gooseProfile, command: 'goose-binary-linux-x64' }

/** Goose for the tests that run it, in print and live mode. */
export const gooseScenarios: Pick<RealCli, 'profile' | 'scripts' | 'expected' | 'options' | 'notes'> = {
  profile: realGoose,
  scripts: {
    'command-succeeds': () => shell('echo fine > /dev/null && echo fine'),
    'command-fails': () => shell('echo bad; exit 3'),
    'read-range': () => shell(`sed -n '2,4p' hello.txt`),
    write: () => call('write', { path: 'new.txt', content: 'made\n' }),
    edit: () => call('edit', { path: 'src/app.js', before: '= 41', after: '= 42' }),
    search: () => shell('grep -rn needle src'),
    list: () => call('tree', { path: 'src' }),
    parallel: () => ({
      turns: [
        {
          toolCalls: ['one', 'two'].map((word) => ({
            name: 'shell',
            input: { command: `echo ${word} > /dev/null; echo ${word}` },
          })),
        },
      ],
    }),
    subagent: () => ({
      routes: [{ match: 'SUBTASK-77', turns: [{ text: 'All is fine.' }] }],
      ...call('delegate', { instructions: 'SUBTASK-77 look at the files' }),
    }),
    skill: () => call('load_skill', { name: 'greet' }),
    mcp: () => call('toy__echo', { text: 'hi' }),
    'endless-command': () => shell('setsid tail -f /dev/null & touch started.txt; tail -f /dev/null'),
    touch: () => shell('touch touched.txt'),
    'write-outside': ({ home }) => call('write', { path: join(home, 'outside.txt'), content: 'made\n' }),
  },
  expected: {
    // Goose does not report that a subagent begins.
    subagent: () => [{ type: 'orchestration', action: 'subagent_completed', isSuccess: true }],
    // Goose does not report where a skill was found.
    skill: () => [{ type: 'skill', skillName: 'greet', isSuccess: true }],
  },
  options: { mcp: { mcp: toyServer } },
  notes: { subagent: 'It does not report that one starts.', skill: 'It does not report where it was found.' },
}

/** Options for a driver of Goose that uses the test's provider. */
export function gooseOptions({ bin, place, provider, hasKey, options }: AgentSetup): PrintOptions & {
  readonly provider: string
} {
  return {
    bin,
    // Its OpenAI provider needs no key if the host is not OpenAI's.
    provider: hasKey ? 'openai' : 'anthropic',
    model: 'model-1',
    ...options,
    env: {
      HOME: place.home,
      TMPDIR: place.temp,
      GOOSE_PATH_ROOT: join(place.home, 'goose'),
      GOOSE_DISABLE_KEYRING: '1',
      GOOSE_TELEMETRY_OFF: '1',
      ANTHROPIC_API_KEY: undefined,
      OPENAI_API_KEY: hasKey ? 'sk-test' : undefined,
      OPENAI_HOST: provider.url,
      OPENAI_BASE_PATH: 'v1/chat/completions',
    },
  }
}
