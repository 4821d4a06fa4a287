import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import type { JsonObject } from '@evener/protocol'
import type { AgentSetup, RealCli, RealScript } from '../real/bench.ts'
import { testCutIsFatal, testNoImages, testSilentRetry } from '../real/other-ways.ts'
import { ownBench } from '../real/own-bench.ts'
import { testCli } from '../real/scenarios.ts'
import { toyServer } from '../real/toy-server.ts'
import { cline } from './driver.ts'
import { clineProfile } from './profile.ts'

const call = (name: string, input: JsonObject): RealScript => ({ turns: [{ toolCalls: [{ name, input }] }] })
const run = (command: string): RealScript => call('run_commands', { commands: [command] })

/** As `cline auth` writes it. */
function logIn({ place, provider, hasKey }: AgentSetup): void {
  if (!hasKey) return
  const dir = join(place.home, '.cline', 'data', 'settings')
  mkdirSync(dir, { recursive: true })
  const settings = {
    provider: 'openai-compatible',
    apiKey: 'sk-test',
    model: 'model-1',
    baseUrl: `${provider.url}/v1`,
  }
  const entry = { settings, updatedAt: '2026-01-01T00:00:00.000Z', tokenSource: 'manual' }
  const providers = {
    version: 1,
    lastUsedProvider: settings.provider,
    modes: {},
    providers: { [settings.provider]: entry },
  }
  writeFileSync(join(dir, 'providers.json'), JSON.stringify(providers))
}

const cli: RealCli = {
  profile: clineProfile,
  agent: (setup) => {
    const { bin, place, options } = setup
    logIn(setup)
    return cline({
      bin,
      ...options,
      env: { HOME: place.home, TMPDIR: place.temp, CLINE_API_KEY: undefined, DO_NOT_TRACK: '1' },
    })
  },
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
  },
  expected: {
    // It has no tool for that, and what its shell does stays a command.
    list: () => [{ type: 'command', command: 'ls src', isSuccess: true }],
    // It does not tell where a skill was found.
    skill: () => [{ type: 'skill', skillName: 'greet', isSuccess: true }],
  },
  options: { mcp: { mcp: toyServer } },
  unsupported: {
    fork: 'in print mode it cannot resume',
    'head-moved': 'in print mode it cannot resume',
    image: 'it takes none',
    'provider-429': 'it retries without a word',
    'provider-cut': 'it does not ask again',
    resume: 'in print mode it cannot resume',
    'resume-at-anchor': 'in print mode it cannot resume',
    'write-outside': 'it cannot be kept to its directory',
  },
}

testCli(cli)

describe('Cline, its own way', () => {
  testNoImages(cli)
  testSilentRetry(cli)
  testCutIsFatal(cli)

  it('begins a new session with every turn, and says so', async (t) => {
    const bench = await ownBench(t, cli, { turns: [{ text: 'First answer.' }, { text: 'Second answer.' }] })
    assert.equal((await bench.agent().describe()).resume, 'none')
    const first = await bench.turn()
    assert.ok(first.binding)
    const second = await bench.turn({ binding: first.binding })
    assert.ok(second.warnings.some((warning) => /begins a new session, because it cannot resume/.test(warning)))
    assert.notEqual(second.binding?.nativeId, first.binding.nativeId)
  })
})
