import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import type { JsonObject } from '@evener/protocol'
import type { AgentSetup, RealCli, RealScript } from '../real/bench.ts'
import { errorCodes } from '../real/other-ways.ts'
import { ownBench } from '../real/own-bench.ts'
import { pathWithRipgrep } from '../real/ripgrep.ts'
import { testCli } from '../real/scenarios.ts'
import { toyServer } from '../real/toy-server.ts'
import { pi } from './driver.ts'
import { piProfile } from './profile.ts'

const PATH = await pathWithRipgrep()

const call = (name: string, input: JsonObject): RealScript => ({ turns: [{ toolCalls: [{ name, input }] }] })
const bash = (command: string): RealScript => call('bash', { command })

/** Pi reads providers and retries from files in its own directory. */
function configure(dir: string, { provider, hasKey }: AgentSetup): void {
  mkdirSync(dir, { recursive: true })
  writeFileSync(
    join(dir, 'settings.json'),
    JSON.stringify({ retry: { enabled: true, maxRetries: 2, baseDelayMs: 50 } }),
  )
  if (!hasKey) return
  const model = { id: 'model-1', reasoning: true, input: ['text', 'image'], contextWindow: 200_000, maxTokens: 8_000 }
  const scripted = {
    baseUrl: `${provider.url}/v1`,
    api: 'openai-completions',
    apiKey: 'sk-test',
    models: [model],
  }
  writeFileSync(join(dir, 'models.json'), JSON.stringify({ providers: { scripted } }))
}

const cli: RealCli = {
  profile: piProfile,
  agent: (setup) => {
    const { bin, place, hasKey, options } = setup
    const dir = join(place.home, '.pi', 'agent')
    configure(dir, setup)
    return pi({
      bin,
      model: hasKey ? 'scripted/model-1' : 'anthropic/claude-sonnet-4-5',
      ...options,
      env: {
        PATH,
        HOME: place.home,
        TMPDIR: place.temp,
        PI_CODING_AGENT_DIR: dir,
        PI_OFFLINE: '1',
        PI_TELEMETRY: '0',
        ANTHROPIC_API_KEY: undefined,
      },
    })
  },
  scripts: {
    'command-succeeds': () => bash('echo fine > /dev/null && echo fine'),
    'command-fails': () => bash('echo bad; exit 3'),
    'read-range': () => call('read', { path: 'hello.txt', offset: 2, limit: 3 }),
    write: () => call('write', { path: 'new.txt', content: 'made\n' }),
    edit: () => call('edit', { path: 'src/app.js', edits: [{ oldText: '= 41', newText: '= 42' }] }),
    search: () => call('grep', { pattern: 'needle' }),
    list: () => call('ls', { path: 'src' }),
    parallel: () => ({
      turns: [
        {
          toolCalls: ['one', 'two'].map((word) => ({
            name: 'bash',
            input: { command: `echo ${word} > /dev/null; echo ${word}` },
          })),
        },
      ],
    }),
    skill: () => call('read', { path: '.agents/skills/greet/SKILL.md' }),
    'endless-command': () => bash('setsid tail -f /dev/null & touch started.txt; tail -f /dev/null'),
    touch: () => bash('touch touched.txt'),
  },
  expected: {
    // A skill is a file that it reads.
    skill: ({ work }) => [{ type: 'read', path: join(work, '.agents/skills/greet/SKILL.md'), isSuccess: true }],
  },
  unsupported: {
    'head-moved': 'it is resumed at our anchor, never at its end',
    mcp: 'it knows no MCP servers',
    subagent: 'it has none',
    'write-outside': 'it cannot be kept to its directory',
  },
}

testCli(cli)

describe('Pi, its own way', () => {
  it('refuses MCP servers: it knows none', async (t) => {
    const bench = await ownBench(t, cli, { turns: [{ text: 'Never said.' }] })
    const { events } = await bench.turn({ options: { mcp: toyServer } })
    assert.deepEqual(errorCodes(events), ['unsupported'])
    assert.equal(bench.provider.requests.length, 0)
  })

  it('goes on elsewhere with a copy of its session', async (t) => {
    const bench = await ownBench(t, cli, { turns: [{ text: 'First answer.' }, { text: 'Second answer.' }] })
    const first = await bench.turn()
    assert.ok(first.binding)
    const second = await bench.turn({ binding: first.binding, turn: { cwd: bench.place.temp } })
    assert.match(bench.request(1), /First answer\./)
    assert.notEqual(second.binding?.nativeId, first.binding.nativeId)
    assert.equal(second.binding?.cwd, bench.place.temp)
  })
})
