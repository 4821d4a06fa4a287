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
  await bench.result('write_file', { path: '.gitignore', content: 'out/\n' })
  for (const path of ['a.ts', 'src/b.ts', 'out/c.ts', '.hidden/d.ts', 'src/e.md']) {
    await bench.result('write_file', { path, content: 'x\nneedle 1\r\nNeedle 2\n' })
  }
  writeFileSync(join(bench.root, 'f.bin'), 'needle\0')
  const files = new LocalFiles(bench.root)
  for (const more of [{}, { glob: '*.ts' }, { honourIgnore: false }]) {
    const found = async (useRipgrep: boolean): Promise<unknown[]> => {
      const options = { pattern: /needle \d$/i, source: 'needle \\d$', honourIgnore: true, ...more, useRipgrep }
      return Array.fromAsync(files.grep('.', options))
    }
    const without = await found(false)
    assert.ok(without.length > 0)
    assert.deepEqual(await found(true), without)
  }
})
