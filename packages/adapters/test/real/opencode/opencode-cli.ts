import { join } from 'node:path'
import type { JsonObject } from '@inspan/protocol'
import type { AgentDriver } from '@inspan/protocol/driver'
import type { CliProfile } from '../../../src/launch/profile.ts'
import type { AgentSetup, RealCli, RealScript } from '../bench.ts'
import { toyServer } from '../toy-server.ts'
import type { OpencodeOptions } from '../../../src/opencode/driver.ts'

/** OpenCode, or a program built on it, for the tests that run it. */
export interface RealFlavour {
  readonly profile: CliProfile
  readonly prefix: string
  agent(options: OpencodeOptions): AgentDriver
  /** A PATH with the tools that it searches with. */
  readonly path: string
  readonly env?: Readonly<Record<string, string>>
}

const call = (name: string, input: JsonObject): RealScript => ({ turns: [{ toolCalls: [{ name, input }] }] })
const bash = (command: string): RealScript => call('bash', { command, description: 'Runs it' })

const SCRIPTS: RealCli['scripts'] = {
  'command-succeeds': () => bash('echo fine > /dev/null && echo fine'),
  'command-fails': () => bash('echo bad; exit 3'),
  'read-range': ({ work }) => call('read', { filePath: join(work, 'hello.txt'), offset: 2, limit: 3 }),
  write: ({ work }) => call('write', { filePath: join(work, 'new.txt'), content: 'made\n' }),
  edit: ({ work }) => call('edit', { filePath: join(work, 'src/app.js'), oldString: '= 41', newString: '= 42' }),
  search: () => call('grep', { pattern: 'needle' }),
  list: ({ work }) => call('read', { filePath: join(work, 'src') }),
  parallel: () => ({
    turns: [
      {
        toolCalls: ['one', 'two'].map((word) => ({
          name: 'bash',
          input: { command: `echo ${word} > /dev/null; echo ${word}`, description: 'Runs it' },
        })),
      },
    ],
  }),
  subagent: () => ({
    routes: [{ match: 'SUBTASK-77', turns: [{ text: 'All is fine.' }] }],
    ...call('task', { description: 'Check files', prompt: 'SUBTASK-77 look', subagent_type: 'general' }),
  }),
  skill: () => call('skill', { name: 'greet' }),
  mcp: () => call('toy_echo', { text: 'hi' }),
  'endless-command': () => bash('setsid tail -f /dev/null & touch started.txt; tail -f /dev/null'),
  'write-outside': ({ home }) => call('write', { filePath: join(home, 'outside.txt'), content: 'made\n' }),
  touch: () => bash('touch touched.txt'),
}

export function opencodeCli(flavour: RealFlavour, unsupported: RealCli['unsupported'] = {}): RealCli {
  return {
    profile: flavour.profile,
    agent: (setup) => flavour.agent(optionsFor(setup, flavour)),
    scripts: SCRIPTS,
    expected: {
      // OpenCode does not report that a subagent begins.
      subagent: () => [{ type: 'orchestration', action: 'subagent_completed', isSuccess: true }],
    },
    options: { mcp: { mcp: toyServer } },
    notes: { subagent: 'It does not report that one starts.' },
    unsupported,
  }
}

function optionsFor(setup: AgentSetup, { prefix, path, env }: RealFlavour): OpencodeOptions {
  const { bin, place, options } = setup
  return {
    bin,
    model: 'scripted/model-1',
    config: providerConfig(setup),
    ...options,
    env: {
      PATH: path,
      HOME: place.home,
      XDG_CACHE_HOME: join(place.home, '.cache'),
      XDG_CONFIG_HOME: join(place.home, '.config'),
      XDG_DATA_HOME: join(place.home, '.local/share'),
      XDG_STATE_HOME: join(place.home, '.local/state'),
      TMPDIR: place.temp,
      [`${prefix}_DISABLE_DEFAULT_PLUGINS`]: '1',
      [`${prefix}_DISABLE_LSP_DOWNLOAD`]: '1',
      [`${prefix}_DISABLE_MODELS_FETCH`]: '1',
      ...env,
    },
  }
}

function providerConfig({ provider, hasKey }: AgentSetup): JsonObject {
  if (!hasKey) return {}
  return {
    provider: {
      scripted: {
        npm: '@ai-sdk/openai-compatible',
        options: { baseURL: `${provider.url}/v1`, apiKey: 'sk-test' },
        models: {
          'model-1': {
            reasoning: true,
            tool_call: true,
            attachment: true,
            modalities: { input: ['text', 'image'], output: ['text'] },
            limit: { context: 200_000, output: 8_000 },
          },
        },
      },
    },
  }
}
