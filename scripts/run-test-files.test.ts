/** How `npm test` runs the files: several at a time, each in a separate process, and no failure goes unnoticed. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, it } from 'node:test'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { LONGEST } from './run-test-files.ts'

const here = dirname(fileURLToPath(import.meta.url))

/** Returns what the runner prints for these files, and its result. */
async function runFiles(files: Readonly<Record<string, string>>): Promise<{ out: string; havePassed: boolean }> {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'inspan-runner-')))
  try {
    for (const [name, code] of Object.entries(files)) await writeFile(join(root, name), code)
    const runner = pathToFileURL(join(here, 'run-test-files.ts')).href
    const program = join(root, 'main.mjs')
    await writeFile(
      program,
      `import { runTestFiles } from ${JSON.stringify(runner)}
      const havePassed = await runTestFiles(${JSON.stringify(Object.keys(files))}, { root: ${JSON.stringify(root)} })
      process.exitCode = havePassed ? 0 : 1`,
    )
    const child = spawn(process.execPath, [program], {
      // A test runner inside a test runner would report to it instead of printing.
      env: { ...process.env, NODE_TEST_CONTEXT: undefined },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    let out = ''
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => (out += chunk))
    const code = await new Promise((resolve) => child.once('close', resolve))
    assert.ok(code === 0 || code === 1, `${String(code)}: ${out}`)
    return { out, havePassed: code === 0 }
  } finally {
    await rm(root, { recursive: true, force: true })
  }
}

const PASSES = `import { it } from 'node:test'
  it('passes', () => {})`

describe('running test files', () => {
  it('runs two at the same time on any machine', async () => {
    const waitsFor = (other: string, mine: string): string => `import { it } from 'node:test'
      import { watch } from 'node:fs'
      import { access, writeFile } from 'node:fs/promises'
      it('meets ${other}', { timeout: 60_000 }, async ({ signal }) => {
        const seen = new Promise((resolve) => {
          const watcher = watch(import.meta.dirname, { signal }, look)
          function look() {
            access(import.meta.dirname + '/${other}').then(() => { watcher.close(); resolve() }, () => {})
          }
          look()
        })
        await writeFile(import.meta.dirname + '/${mine}', '')
        await seen
      })`
    const { out, havePassed } = await runFiles({
      'one.test.mjs': waitsFor('two-is-here', 'one-is-here'),
      'two.test.mjs': waitsFor('one-is-here', 'two-is-here'),
    })
    assert.ok(havePassed, out)
    assert.match(out, /^ℹ pass 2$/m)
  })

  it('reports which file a failed test is in, and gives that not all have passed', async () => {
    const { out, havePassed } = await runFiles({
      'good.test.mjs': PASSES,
      'bad.test.mjs': `import { describe, it } from 'node:test'
        describe('a group', () => it('does not hold', () => { throw new Error('what went wrong') }))`,
    })
    assert.equal(havePassed, false)
    assert.match(out, /^ℹ pass 1$/m)
    assert.match(out, /^ℹ fail 1$/m)
    const [, told = ''] = out.split('failing tests:')
    assert.match(told, /bad\.test\.mjs:2:\d+\n✖ does not hold/)
    assert.match(told, /what went wrong/)
  })

  it('takes a file that cannot be loaded or ends with an error for failed, also after tests that passed', async () => {
    for (const [name, code] of Object.entries({
      'syntax.test.mjs': 'const = 1',
      'exit.test.mjs': `${PASSES}\nprocess.on('exit', () => (process.exitCode = 3))`,
      'killed.test.mjs': `${PASSES}\nprocess.on('exit', () => process.kill(process.pid, 'SIGKILL'))`,
    })) {
      const { out, havePassed } = await runFiles({ 'good.test.mjs': PASSES, [name]: code })
      assert.equal(havePassed, false, name)
      assert.match(out.split('failing tests:')[1] ?? '', new RegExp(`✖ ${name}`))
    }
  })

  it('takes a file for failed that ends before its tests are over, however well it ends', async () => {
    for (const [name, code] of Object.entries({
      'empty.test.mjs': '',
      'early.test.mjs': `process.exit(0)\n${PASSES}`,
      'inside.test.mjs': `${PASSES}\nit('ends all', () => process.exit(0))`,
      'later.test.mjs': `${PASSES}\nit('ends all', () => new Promise(() => setTimeout(() => process.exit(0), 500)))`,
    })) {
      const { out, havePassed } = await runFiles({ 'good.test.mjs': PASSES, [name]: code })
      assert.equal(havePassed, false, name)
      assert.match(out, new RegExp(`^✖ ended before its tests were over: .*${name}$`, 'm'))
    }
  })

  it('knows the files that take longest by names that there are', () => {
    for (const file of LONGEST) assert.ok(existsSync(join(dirname(here), file)), file)
  })
})
