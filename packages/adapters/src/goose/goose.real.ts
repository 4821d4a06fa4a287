import assert from 'node:assert/strict'
import { dirname, join } from 'node:path'
import { describe, it } from 'node:test'
import { NO_RULES, type JsonObject } from '@evener/protocol'
import type { RealCli, RealScript } from '../real/bench.ts'
import { testCutIsFatal, testNoImages, testSilentRetry } from '../real/other-ways.ts'
import { ownBench } from '../real/own-bench.ts'
import { testCli } from '../real/scenarios.ts'
import { toyServer } from '../real/toy-server.ts'
import { goose } from './driver.ts'
import { gooseProfile } from './profile.ts'

const call = (name: string, input: JsonObject): RealScript => ({ turns: [{ toolCalls: [{ name, input }] }] })
const shell = (command: string): RealScript => call('shell', { command })

const cli: RealCli = {
  profile: gooseProfile,
  agent: ({ bin, place, provider, hasKey, options }) =>
    goose({
      // The package's program bears the name of the platform.
      bin: join(dirname(bin), 'goose-binary-linux-x64'),
      // Its OpenAI goes without a key where it is not OpenAI.
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
    }),
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
  },
  expected: {
    // It does not tell that one begins.
    subagent: () => [{ type: 'orchestration', action: 'subagent_completed', isSuccess: true }],
    // It does not tell where a skill was found.
    skill: () => [{ type: 'skill', skillName: 'greet', isSuccess: true }],
  },
  options: { mcp: { mcp: toyServer } },
  unsupported: {
    fork: 'its messages cannot be gone back to',
    image: 'it takes none',
    'provider-429': 'it retries without a word',
    'provider-cut': 'it does not ask again',
    'resume-at-anchor': 'its messages cannot be gone back to',
    'write-outside': 'it cannot be kept to its directory',
  },
}

testCli(cli)

describe('Goose, its own way', () => {
  testNoImages(cli)
  testSilentRetry(cli)
  testCutIsFatal(cli)

  it('begins a new session when its own one has tools that it may not use any more', async (t) => {
    const bench = await ownBench(t, cli, { turns: [{ text: 'First answer.' }, { text: 'Second answer.' }] })
    const first = await bench.turn()
    assert.ok(first.binding)
    const rules = { ...NO_RULES, tools: { execute_command: 'deny' as const } }
    const second = await bench.turn({ binding: first.binding, turn: { rules } })
    assert.ok(second.warnings.some((warning) => /begins a new session/.test(warning)))
    assert.notEqual(second.binding?.nativeId, first.binding.nativeId)
    const offered = bench.request(1)
    assert.doesNotMatch(offered, /First answer\.|"name":"shell"/)
    assert.match(offered, /"name":"write"/)
  })

  it('is told texts that look like its templates as they are', async (t) => {
    const bench = await ownBench(t, cli, { turns: [{ text: 'Done.' }] })
    const text = String.raw`Replace {{ name }} and {% if x %} and {# note #} and \{{ in the templates.`
    await bench.turn({ turn: { input: [{ id: '0', type: 'text', text }] } })
    assert.ok(bench.request(0).includes(JSON.stringify(text).slice(1, -1)))
  })
})
