import assert from 'node:assert/strict'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { suite, test, type TestContext } from 'node:test'
import { rootLineage } from '@inspan/protocol/log'
import { Checkpoints } from './checkpoints/checkpoints.ts'
import { findProgram } from './find-program.ts'
import { Workspace } from './workspace/workspace.ts'
import { WorkspaceBench } from './workspace/workspace.fixture.ts'

/** Sets PATH for the time of a test. Folders are given relative to `base`. */
function withPath(t: TestContext, ...folders: readonly string[]): void {
  const { PATH } = process.env
  t.after(() => (process.env['PATH'] = PATH))
  process.env['PATH'] = [...folders, PATH].join(delimiter)
}

/** A program that leaves a mark instead of doing its work. */
function plant(folder: string, name: string, mark: string): void {
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, name), `#!/bin/sh\ntouch ${mark}\nexit 1\n`)
  chmodSync(join(folder, name), 0o755)
}

function makeFolder(t: TestContext): { readonly root: string; readonly elsewhere: string } {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'inspan-programs-')))
  t.after(() => rmSync(base, { recursive: true, force: true }))
  const [root, elsewhere] = [join(base, 'root'), join(base, 'elsewhere')]
  for (const folder of [root, elsewhere]) mkdirSync(folder)
  return { root, elsewhere }
}

suite('a program that we start ourselves', () => {
  test('is found in PATH, but not in the workspace, through a link to it, or in a relative folder', (t) => {
    const { elsewhere, root } = makeFolder(t)
    plant(join(root, 'node_modules/.bin'), 'tool', '/dev/null')
    plant(elsewhere, 'tool', '/dev/null')
    symlinkSync(join(root, 'node_modules'), join(elsewhere, 'linked'))
    mkdirSync(join(elsewhere, 'links'))
    symlinkSync(join(root, 'node_modules/.bin/tool'), join(elsewhere, 'links/tool'))
    mkdirSync(join(elsewhere, 'folders/tool'), { recursive: true })
    const unusable = [
      '.',
      join(root, 'node_modules/.bin'),
      ...['linked/.bin', 'links', 'folders'].map((name) => join(elsewhere, name)),
    ]
    withPath(t, ...unusable)
    assert.equal(findProgram('tool', root), undefined)
    withPath(t, ...unusable, elsewhere)
    assert.equal(findProgram('tool', root), join(elsewhere, 'tool'))
  })

  test('is never one that an agent has put in its workspace: ripgrep, git and bubblewrap', async (t) => {
    await using bench = new WorkspaceBench()
    const { base, root } = bench
    const mark = join(base, 'outside/was-here')
    const bin = join(root, 'node_modules/.bin')
    for (const name of ['rg', 'git', 'bwrap']) plant(bin, name, mark)
    writeFileSync(join(root, 'a.txt'), 'needle')
    withPath(t, bin)
    assert.equal(await bench.result('grep', { pattern: 'needle' }), 'a.txt:1: needle')
    const checkpoints = new Checkpoints(root, { folder: join(base, 'kept') })
    const turn = { thread: 't', runId: 'r', turnId: 'turn', seq: 1 }
    await checkpoints.baseline(turn)
    writeFileSync(join(root, 'a.txt'), 'changed')
    await checkpoints.end(turn)
    assert.equal((await checkpoints.changes(rootLineage('t'))).length, 1)
    const contained = new Workspace({ root, shell: { sandbox: 'bubblewrap' } })
    process.env['PATH'] = bin
    await assert.rejects(contained.init(), /bubblewrap, which is not installed/)
    await contained.close()
    assert.ok(!existsSync(mark))
  })
})
