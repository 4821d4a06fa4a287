import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { it, type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { runSuites } from './real-suites.ts'

const TEST = fileURLToPath(new URL('test.ts', import.meta.url))

/** Writes suites into a temporary folder. `said` is an empty list for the lines they log. */
async function stage(
  t: TestContext,
  suites: Readonly<Record<string, string>>,
): Promise<{ dir: string; said: string[] }> {
  const dir = await mkdtemp(join(tmpdir(), 'inspan-suites-'))
  t.after(() => rm(dir, { recursive: true, force: true }))
  for (const [name, body] of Object.entries(suites)) {
    const head = `import { describe, it } from 'node:test'; import { appendFileSync } from 'node:fs'\n`
    await writeFile(join(dir, name), `${head}describe('s', () => { it('works', async () => { ${body} }) })`)
  }
  return { dir, said: [] }
}

const note = `appendFileSync(process.env.DIARY, import.meta.url.replace(/.*\\//, '') + '\\n')`

it('runs all of them, the longest first, and reports how far they are', async (t) => {
  const { dir, said } = await stage(t, { 'a.mjs': note, 'b.mjs': note, 'cline.mjs': note, 'kilo-code.mjs': note })
  const diary = join(dir, 'diary')
  const files = ['a.mjs', 'b.mjs', 'cline.mjs', 'kilo-code.mjs']
  const log = (line: string): void => void said.push(line)
  assert.equal(await runSuites(files, { root: dir, env: { DIARY: diary }, log }), true)
  const order = (await readFile(diary, 'utf8')).trim().split('\n')
  assert.deepEqual(order.toSorted(), files)
  assert.deepEqual(said.flatMap((line) => /^\[\d+:\d\d\] (\S+) …$/.exec(line)?.[1] ?? []).slice(0, 2), [
    'kilo-code.mjs',
    'cline.mjs',
  ])
  assert.equal(said.filter((line) => /✔ \S+: 1 passed in 0:\d\d \(\d of 4\)/.test(line)).length, 4)
})

it('fails when one has failed, with all that one has said, and still runs the others', async (t) => {
  const { dir, said } = await stage(t, { 'a.mjs': `throw new Error('BROKEN-1')`, 'b.mjs': note })
  const diary = join(dir, 'diary')
  const log = (line: string): void => void said.push(line)
  assert.equal(await runSuites(['a.mjs', 'b.mjs'], { root: dir, env: { DIARY: diary }, log }), false)
  assert.equal(await readFile(diary, 'utf8'), 'b.mjs\n')
  assert.ok(said.some((line) => line.includes('BROKEN-1')))
  assert.ok(said.some((line) => /^\[0:\d\d\] a\.mjs: ✖ works/.test(line)))
  assert.match(said.at(-1) ?? '', /failed: a\.mjs/)
})

it('ends one that hangs, also when what it has started holds its output open, and reports it', async (t) => {
  const hanging = `const { spawn } = await import('node:child_process')
    spawn('tail', ['-f', '/dev/null', '--pid', String(process.ppid)], { stdio: 'inherit' })
    await new Promise(() => setInterval(() => undefined, 1_000))`
  const { dir, said } = await stage(t, { 'a.mjs': hanging })
  const log = (line: string): void => void said.push(line)
  assert.equal(await runSuites(['a.mjs'], { root: dir, log, hungMs: 1_000 }), false)
  assert.ok(said.includes('a.mjs has said nothing for 0:01 and was ended.'), said.join('\n'))
  assert.match(said.at(-1) ?? '', /failed: a\.mjs/)
})

it('some of them do not touch the tables, and cannot write them', async (t) => {
  const { dir } = await stage(t, { 'a.mjs': '' })
  const run = (...args: readonly string[]): ReturnType<typeof spawnSync> =>
    spawnSync(process.execPath, [TEST, '--suite', 'real', ...args, join(dir, 'a.mjs')], { encoding: 'utf8' })
  const checked = run()
  assert.equal(checked.status, 0)
  assert.match(String(checked.stderr), /✔ a\.mjs/)
  assert.doesNotMatch(String(checked.stderr), /what the programs have shown/)
  const written = run('--table')
  assert.equal(written.status, 2)
  assert.match(String(written.stderr), /leave out the names/)
})
