import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterEach, beforeEach, suite, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { startProvider } from '@inspan/testing'

const inspanFile = fileURLToPath(new URL('../bin/inspan.js', import.meta.url))
let folder = ''
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'inspan-limits-'))
})
afterEach(() => rm(folder, { recursive: true, maxRetries: 5 }))

async function run(script: Parameters<typeof startProvider>[0], ...args: readonly string[]) {
  await using provider = await startProvider(script)
  const child = spawn(process.execPath, [inspanFile, 'run', 'Go', '--model', 'anthropic/claude-sonnet-4-5', ...args], {
    cwd: folder,
    env: {
      ...process.env,
      INSPAN_HOME: join(folder, '.home'),
      ANTHROPIC_API_KEY: 'key',
      ANTHROPIC_BASE_URL: `${provider.url}/v1`,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
  return { code: child.exitCode, out, err, calls: provider.requests.length }
}

const WRITE = { toolCalls: [{ name: 'write_file', input: { path: 'made.txt', content: 'x' } }] }

suite('inspan run without a terminal', { timeout: 60_000 }, () => {
  test('declines what needs an approval, and reports it by its exit code', async () => {
    const ran = await run([WRITE, { text: 'Then not.' }])
    assert.equal(ran.code, 4, ran.err)
    assert.match(ran.err, /1 approvals were declined/)
    assert.match(ran.out, /Then not\./)
    assert.equal(existsSync(join(folder, 'made.txt')), false)
  })

  test('does what --allow allows, unless --deny denies it', async () => {
    assert.equal((await run([WRITE, { text: 'Done.' }], '--allow', 'edit')).code, 0)
    assert.equal(existsSync(join(folder, 'made.txt')), true)
    await rm(join(folder, 'made.txt'))
    const denied = await run([WRITE, { text: 'Done.' }], '--allow', 'edit', '--deny', 'edit')
    assert.equal(denied.code, 0, 'a deny is no question that nobody answers')
    assert.equal(existsSync(join(folder, 'made.txt')), false)
  })

  test('ends a run that costs more than --max-cost', async () => {
    const look = { toolCalls: [{ name: 'list_files', input: { path: '.' } }] }
    const costly = { ...look, usage: { inputTokens: 1_000_000, outputTokens: 10 } }
    const ran = await run([costly, costly, { text: 'Never.' }], '--max-cost', '0.5')
    assert.equal(ran.code, 1)
    assert.doesNotMatch(ran.out, /Never/)
    assert.ok(ran.calls < 3)
  })

  test('ends a run after --timeout', async () => {
    const ran = await run([{ text: ['a ', 'b ', 'c '], delayPerDeltaMs: 60_000 }], '--timeout', '0.5')
    assert.equal(ran.code, 1)
  })
})
