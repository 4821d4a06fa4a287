// One prompt to three real coding agents at once: `inspan compare --with claude-code,codex,pi`.
import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { suite, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Comparison } from '@inspan/client/compare'
import { startProvider, type ModelTurn, type ProviderRequest } from '@inspan/testing'

const run = promisify(execFile)
const INSPAN = fileURLToPath(new URL('../../bin/inspan.js', import.meta.url))
const INSTALL = fileURLToPath(new URL('../../../adapters/test/real/install-cli.ts', import.meta.url))
const AGENTS = ['claude-code', 'codex', 'pi'] as const
const PROMPT = 'Sign the note'
const USAGE = { inputTokens: 1000, outputTokens: 50 }
/** Many times what it takes: the machine may be busy, and the line on which a program is installed slow. */
const TEST_MS = 30 * 60_000

/** Each agent is known by the format in which it asks. One of them writes a file first. */
function answer({ api, text: asked }: ProviderRequest): ModelTurn {
  if (!asked.includes(PROMPT)) return { text: 'Nothing was asked.' }
  if (api === 'anthropic') return { text: 'Claude Code would rather not.', usage: USAGE }
  if (api === 'responses') return { text: 'Codex would rather not.', usage: USAGE }
  if (asked.includes('"role":"tool"')) return { text: 'Pi has signed it.', usage: USAGE }
  return { toolCalls: [{ name: 'write', input: { path: 'note.txt', content: 'signed by Pi\n' } }] }
}

/** The settings of the agents, as people have them in their home folders. */
function configure(home: string, url: string): NodeJS.ProcessEnv {
  const provider = { name: 'scripted', base_url: `${url}/v1`, env_key: 'CODEX_API_KEY', wire_api: 'responses' }
  const lines = Object.entries(provider).map(([key, value]) => `${key} = ${JSON.stringify(value)}`)
  const codex = ['model = "gpt-5.5"', 'model_provider = "scripted"', '[model_providers.scripted]', ...lines]
  mkdirSync(join(home, '.codex'))
  writeFileSync(join(home, '.codex/config.toml'), codex.join('\n'))
  const pi = join(home, '.pi/agent')
  mkdirSync(pi, { recursive: true })
  const models = [{ id: 'model-1', input: ['text'], contextWindow: 200_000, maxTokens: 8_000 }]
  const scripted = { baseUrl: `${url}/v1`, api: 'openai-completions', apiKey: 'sk-test', models }
  writeFileSync(join(pi, 'models.json'), JSON.stringify({ providers: { scripted } }))
  writeFileSync(join(pi, 'settings.json'), JSON.stringify({ defaultProvider: 'scripted', defaultModel: 'model-1' }))
  return {
    HOME: home,
    INSPAN_HOME: join(home, '.inspan'),
    ANTHROPIC_API_KEY: 'sk-ant-test',
    ANTHROPIC_BASE_URL: url,
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    CODEX_API_KEY: 'sk-test',
    PI_OFFLINE: '1',
    PI_TELEMETRY: '0',
  }
}

suite('a comparison of three real coding agents', { timeout: TEST_MS }, () => {
  test('runs each in a worktree of its own, and keeps the changes of one', { timeout: TEST_MS }, async (t) => {
    const bins = []
    for (const id of AGENTS) bins.push(dirname((await run(process.execPath, [INSTALL, id])).stdout.trim()))
    const base = realpathSync(mkdtempSync(join(tmpdir(), 'inspan-compare-real-')))
    t.after(() => rmSync(base, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 }))
    const [home, folder] = [join(base, 'home'), join(base, 'project')]
    for (const each of [home, folder]) mkdirSync(each)
    writeFileSync(join(folder, 'note.txt'), 'unsigned\n')
    const git = ['-c', 'user.name=a', '-c', 'user.email=a@b.c', '-C', folder]
    for (const args of [
      ['init', '-q'],
      ['add', '-A'],
      ['commit', '-qm', 'Begin'],
    ])
      await run('git', [...git, ...args])
    await using provider = await startProvider({ turns: Array.from({ length: 40 }, () => answer) })
    const env = { ...configure(home, provider.url), PATH: [...bins, process.env['PATH']].join(':') }

    const args = ['compare', PROMPT, '--with', AGENTS.join(), '--keep', 'pi', '--json']
    const child = spawn(process.execPath, [INSPAN, ...args], { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] })
    const [out, err] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
    assert.equal(child.exitCode, 0, `${out}\n${err}`)
    const { lanes } = JSON.parse(out) as Comparison
    assert.deepEqual(
      lanes.map(({ answer: said, files, name, status }) => [name, status, files, said]),
      [
        ['claude-code', 'complete', [], 'Claude Code would rather not.'],
        ['codex', 'complete', [], 'Codex would rather not.'],
        ['pi', 'complete', ['note.txt'], 'Pi has signed it.'],
      ],
    )
    assert.match(lanes[2]?.diff ?? '', /-unsigned\n\+signed by Pi/)
    for (const { durationMs, inputTokens, name, outputTokens } of lanes) {
      assert.ok(durationMs > 0 && inputTokens >= 1000 && outputTokens >= 50, `${name}: ${durationMs} ${inputTokens}`)
    }
    assert.equal(readFileSync(join(folder, 'note.txt'), 'utf8'), 'signed by Pi\n')
    assert.deepEqual(readdirSync(folder).toSorted(), ['.git', 'note.txt'])
    assert.equal((await run('git', [...git, 'worktree', 'list'])).stdout.trim().split('\n').length, 1)
  })
})
