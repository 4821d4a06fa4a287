import assert from 'node:assert/strict'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import type { JsonObject } from '@inspan/protocol'
import { LocalFiles } from './local-files.ts'
import { WorkspaceBench } from './workspace.fixture.ts'

suite('a shell in bubblewrap', () => {
  test('writes in the workspace and in a /tmp of its own, nowhere else, and has no network', async () => {
    const base = process.env['HOME'] ?? '/root'
    await using bench = new WorkspaceBench({ shell: { sandbox: 'bubblewrap' } })
    await bench.workspace.init()
    await bench.result('execute_command', { command: 'echo in > inside.txt; echo tmp > /tmp/mine' })
    assert.ok(existsSync(join(bench.root, 'inside.txt')))
    assert.ok(!existsSync('/tmp/mine'))
    const outside = join(base, `inspan-sandbox-${process.pid}`)
    const { isError, result } = await bench.call('execute_command', { command: `echo out > ${outside}` })
    assert.equal(isError, true)
    assert.match((result as JsonObject)['stderr'] as string, /Read-only file system/)
    assert.ok(!existsSync(outside))
    const net = (await bench.result('execute_command', { command: 'cat /proc/net/dev | wc -l' })) as JsonObject
    assert.equal((net['stdout'] as string).trim(), '3', 'only the loopback device')
  })

  test('ends with everything it started', async () => {
    await using bench = new WorkspaceBench({ shell: { sandbox: 'bubblewrap' } })
    const { isError, result } = await bench.call('execute_command', { command: 'sleep 1000 & wait', timeout: 500 })
    assert.deepEqual([isError, (result as JsonObject)['timedOut']], [true, true])
  })
})

test('grep finds the same with ripgrep and without it', async () => {
  await using bench = new WorkspaceBench({ shell: false })
  await bench.result('write_file', { path: '.gitignore', content: 'out/\n*.log\n' })
  await bench.result('write_file', { path: '.ignore', content: '*.md\n' })
  for (const path of ['a.ts', 'src/b.ts', 'out/c.ts', '.hidden/.d.ts', 'src/e.md', 'g.log']) {
    await bench.result('write_file', { path, content: 'x\nneedle 1;\r\nNeedle 2\nälter ٣\n' })
  }
  writeFileSync(join(bench.root, 'f.bin'), 'needle\0')
  const files = new LocalFiles(bench.root)
  const globs = ['*.ts', '!*.ts', '*.log', '**/*.ts', 'src/*', '/a.ts', '*.{ts,md}'].map((glob) => ({ glob }))
  const sources = ['needle \\d;?$', '\\blter', '[^\\w\\s]lter', '\\D$', 'x(?!y)', '(n)e+\\1?d', '[[]|x']
  for (const source of sources) {
    for (const more of [{}, { honourIgnore: false }, { path: 'src' }, { path: 'g.log', glob: '*.ts' }, ...globs]) {
      const found = async (useRipgrep: boolean): Promise<unknown[]> => {
        const { path, ...given } = { honourIgnore: true, path: '.', ...more }
        const options = { pattern: new RegExp(source, 'i'), source, ...given, useRipgrep }
        return Array.fromAsync(files.grep(path, options))
      }
      const without = await found(false)
      const what = `${source} ${JSON.stringify(more)}`
      assert.deepEqual(await found(true), without, what)
      assert.equal(without.length > 0, !('glob' in more) || more.glob !== '*.log', what)
    }
  }
})
