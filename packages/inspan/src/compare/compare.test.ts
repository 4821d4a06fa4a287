import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { after, beforeEach, suite, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { Comparison } from '@inspan/client/compare'
import { startProvider } from '@inspan/testing'

const inspanFile = fileURLToPath(new URL('../../bin/inspan.js', import.meta.url))
const MODEL = 'anthropic/claude-sonnet-4-5'
const folders: string[] = []
let folder = ''

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'inspan-compare-test-'))
  folders.push(folder)
})
after(() => Promise.all(folders.map((each) => rm(each, { recursive: true, force: true }))))

function git(...args: readonly string[]): string {
  const who = ['-c', 'user.name=test', '-c', 'user.email=test@example.com']
  return execFileSync('git', ['-C', folder, ...who, ...args], { encoding: 'utf8' })
}

async function repository(): Promise<void> {
  git('init', '--quiet')
  await writeFile(join(folder, 'a.txt'), 'committed\n')
  git('add', '.')
  git('commit', '--quiet', '-m', 'First')
  await writeFile(join(folder, 'a.txt'), 'committed\nnot yet\n')
}

async function compare(provider: { readonly url: string }, ...args: readonly string[]) {
  const child = spawn(process.execPath, [inspanFile, 'compare', ...args, '--with', `demo,${MODEL}`], {
    cwd: folder,
    env: {
      ...process.env,
      INSPAN_HOME: join(folder, '.home'),
      ANTHROPIC_API_KEY: 'key',
      ANTHROPIC_BASE_URL: `${provider.url}/v1`,
    },
  })
  child.stdin.end()
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
  return { code: child.exitCode, out, err }
}

const CHANGE = {
  toolCalls: [
    { name: 'write_file', input: { path: 'a.txt', content: 'rewritten\n' } },
    { name: 'execute_command', input: { command: 'touch ran' } },
  ],
}

suite('inspan compare', { timeout: 60_000 }, () => {
  test('lets each agent work in a worktree of its own, on the uncommitted state, and keeps one', async () => {
    await repository()
    await using provider = await startProvider([
      { toolCalls: [{ name: 'read_file', input: { path: 'a.txt' } }] },
      CHANGE,
      { text: 'Rewritten.', usage: { inputTokens: 20, outputTokens: 4 } },
    ])
    const ran = await compare(provider, 'Change it', '--json', '--keep', MODEL)
    assert.equal(ran.code, 0, ran.err)
    const { lanes, prompt } = JSON.parse(ran.out) as Comparison
    assert.equal(prompt, 'Change it')
    const [demo, model] = lanes
    assert.deepEqual(demo?.files, ['note-1.md'])
    // The command needs an approval, and nobody can be asked.
    assert.deepEqual(model?.files, ['a.txt'])
    assert.match(model?.diff ?? '', /-committed\n-not yet\n\+rewritten/)
    assert.equal(model?.answer, 'Rewritten.')
    assert.ok(model.outputTokens >= 4)
    assert.ok(model.costUsd > 0 && model.estimatedUsd === model.costUsd, 'by the price list')
    assert.equal(await readFile(join(folder, 'a.txt'), 'utf8'), 'rewritten\n')
    assert.deepEqual((await readdir(folder)).toSorted(), ['.git', '.home', 'a.txt'])
    assert.equal(git('worktree', 'list').trim().split('\n').length, 1)
  })

  test('changes nothing without --keep, prints a table, and leaves a patch of each', async () => {
    await repository()
    await using provider = await startProvider([
      { text: 'I would rather not.', usage: { inputTokens: 1000, outputTokens: 10 } },
    ])
    const ran = await compare(provider, 'Change it', '--export', 'result.csv')
    assert.equal(ran.code, 0, ran.err)
    assert.match(ran.out, /^anthropic\S+ .* \$\d+\.\d{4} estimated +0 +0 +complete$/m)
    assert.match(ran.out, /^agent +time +input tokens +output tokens +cost +files +commands +exit$/m)
    assert.match(ran.out, /^demo +\d+\.\d s .* 1 +0 +complete$/m)
    assert.match(ran.out, /demo and anthropic\/claude-sonnet-4-5: 1 file differs$/m)
    const patch = /git apply (\S+)<agent>\.patch/.exec(ran.err)?.[1] ?? ''
    assert.match(await readFile(`${patch}demo.patch`, 'utf8'), /\+# Note 1/)
    assert.match(await readFile(join(folder, 'result.csv'), 'utf8'), /^demo,complete,/m)
    assert.equal(await readFile(join(folder, 'a.txt'), 'utf8'), 'committed\nnot yet\n')
  })

  test('is read-only and one after the other where there is no repository', async () => {
    await using provider = await startProvider([CHANGE, { text: 'Then not.' }])
    const ran = await compare(provider, 'Change it', '--json')
    assert.match(ran.err, /one after the other, read-only/)
    const { lanes } = JSON.parse(ran.out) as Comparison
    assert.deepEqual(
      lanes.map(({ files, status }) => [status, files]),
      [
        ['complete', []],
        ['complete', []],
      ],
    )
    assert.deepEqual(await readdir(folder), ['.home'])
  })
})
