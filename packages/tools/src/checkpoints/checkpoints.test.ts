import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { rootLineage } from '@inspan/protocol/log'
import { ALL, CheckpointBench, from, T, turnOf } from './checkpoints.fixture.ts'

suite('a rewind restores', () => {
  for (const isRepository of [false, true]) {
    test(`created, changed, deleted, renamed, binary, large, executable and linked files, ${isRepository ? 'in a repository' : 'outside git'}`, async () => {
      using bench = new CheckpointBench(isRepository)
      const { root } = bench
      const binary = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte))
      const large = Buffer.alloc(5 * 1024 * 1024, 'large ')
      bench.write('.gitattributes', '* text=auto eol=lf\n*.bin filter=lfs\n')
      bench.write('crlf.txt', 'a\r\nb\r\n')
      bench.write('gone/a.txt', 'a')
      bench.write('b.bin', binary)
      bench.write('large.dat', large)
      bench.write('run.sh', 'echo 1')
      chmodSync(join(root, 'run.sh'), 0o755)
      bench.write('old.txt', 'renamed')
      symlinkSync('old.txt', join(root, 'link'))
      if (isRepository) {
        bench.git('add', '-A')
        bench.git('commit', '-qm', 'first')
      }
      const before = isRepository ? bench.git('status', '--porcelain') : ''
      await bench.turn(1, () => {
        bench.write('crlf.txt', 'changed')
        rmSync(join(root, 'gone'), { recursive: true })
        bench.write('b.bin', 'text')
        bench.write('large.dat', 'small')
        chmodSync(join(root, 'run.sh'), 0o644)
        renameSync(join(root, 'old.txt'), join(root, 'new.txt'))
        rmSync(join(root, 'link'))
        symlinkSync('elsewhere', join(root, 'link'))
        bench.write('new/deep/file.txt', 'created')
      })
      const dry = await bench.again().rewind(T, ALL, { dryRun: true })
      assert.equal(bench.read('crlf.txt'), 'changed', 'a dry run changes nothing')
      const report = await bench.again().rewind(T, ALL)
      assert.deepEqual(report, dry)
      assert.deepEqual(report.removed, ['new.txt', 'new/deep/file.txt'])
      assert.deepEqual(report.conflicts, [])
      assert.equal(bench.read('crlf.txt'), 'a\r\nb\r\n')
      assert.equal(bench.read('gone/a.txt'), 'a')
      assert.deepEqual(readFileSync(join(root, 'b.bin')), binary)
      assert.ok(readFileSync(join(root, 'large.dat')).equals(large))
      assert.equal(statSync(join(root, 'run.sh')).mode & 0o111, 0o111)
      assert.equal(bench.read('old.txt'), 'renamed')
      assert.equal(readlinkSync(join(root, 'link')), 'old.txt')
      assert.ok(!existsSync(join(root, 'new')) && !existsSync(join(root, 'new.txt')))
      if (isRepository) assert.equal(bench.git('status', '--porcelain'), before)
    })
  }

  test('a rewind restores the effects of sed -i, mv, chmod and git checkout, and leaves the repository of the user alone', async () => {
    using bench = new CheckpointBench(true)
    bench.write('a.txt', 'one')
    bench.git('add', '-A')
    bench.git('commit', '-qm', 'one')
    bench.write('a.txt', 'two')
    bench.git('commit', '-qam', 'two')
    const index = readFileSync(join(bench.root, '.git/index'))
    const sh = (command: string): void => void execFileSync('sh', ['-c', command], { cwd: bench.root })
    await bench.turn(1, () => sh('sed -i s/two/three/ a.txt'))
    await bench.turn(2, () => sh('mv a.txt b.txt && chmod +x b.txt'))
    assert.deepEqual(readFileSync(join(bench.root, '.git/index')), index)
    await bench.turn(3, () => sh('rm b.txt && git checkout -q HEAD~1 -- a.txt'))
    assert.equal(bench.read('a.txt'), 'one')
    await bench.checkpoints.rewind(T, from(3))
    assert.deepEqual([bench.read('b.txt'), existsSync(join(bench.root, 'a.txt'))], ['three', false])
    await bench.checkpoints.rewind(T, ALL)
    assert.deepEqual([bench.read('a.txt'), existsSync(join(bench.root, 'b.txt'))], ['two', false])
    assert.equal(bench.git('log', '--format=%s').trim(), 'two\none')
  })

  test('single files that were kept, also those that .gitignore names and whole folders', async () => {
    using bench = new CheckpointBench()
    bench.write('.gitignore', 'secret/\n')
    bench.write('secret/key', 'old')
    bench.write('dir/a', 'a')
    const turn = turnOf(1)
    for (const path of ['secret/key', 'dir', 'new.txt']) await bench.checkpoints.keep(turn, join(bench.root, path))
    bench.write('secret/key', 'new')
    rmSync(join(bench.root, 'dir'), { recursive: true })
    bench.write('new.txt', 'n')
    await bench.checkpoints.end(turn)
    const { notCovered, removed, restored } = await bench.checkpoints.rewind(T, ALL)
    assert.deepEqual([restored, removed, notCovered], [['dir/a', 'secret/key'], ['new.txt'], ['secret/']])
    assert.deepEqual([bench.read('secret/key'), bench.read('dir/a')], ['old', 'a'])
    assert.deepEqual(readdirSync(bench.root).sort(), ['.gitignore', 'dir', 'secret'])
  })

  test('all permissions of a file that was kept, and the executable bits of any other', async () => {
    using bench = new CheckpointBench()
    const modeOf = (path: string): string => (statSync(join(bench.root, path)).mode & 0o777).toString(8)
    for (const [path, mode] of [
      ['private', 0o600],
      ['group', 0o750],
      ['fixed', 0o444],
      ['changed', 0o640],
    ] as const) {
      bench.write(path, path)
      chmodSync(join(bench.root, path), mode)
    }
    const turn = turnOf(1)
    for (const path of ['private', 'group', 'fixed']) await bench.checkpoints.keep(turn, join(bench.root, path))
    await bench.checkpoints.baseline(turn)
    for (const path of ['private', 'group']) rmSync(join(bench.root, path))
    chmodSync(join(bench.root, 'fixed'), 0o644)
    bench.write('fixed', 'new')
    bench.write('changed', 'new')
    chmodSync(join(bench.root, 'changed'), 0o740)
    await bench.checkpoints.end(turn)
    await bench.again().rewind(T, ALL)
    assert.deepEqual(['private', 'group', 'fixed', 'changed'].map(modeOf), ['600', '750', '444', '640'])
  })

  test('a turn after one whose process died is undone with it, without a conflict', async () => {
    using bench = new CheckpointBench()
    bench.write('both', 'old')
    await bench.checkpoints.baseline(turnOf(1))
    bench.write('both', 'by the first')
    bench.write('first', 'made')
    bench.checkpoints = bench.again()
    await bench.turn(2, () => {
      bench.write('both', 'by the second')
      bench.write('second', 'made')
    })
    const { conflicts, removed, restored } = await bench.checkpoints.rewind(T, ALL)
    assert.deepEqual([conflicts, restored, removed], [[], ['both'], ['first', 'second']])
    assert.equal(bench.read('both'), 'old')
  })

  test('a turn that keeps single files after one whose process died is undone with it, without a conflict', async () => {
    using bench = new CheckpointBench()
    bench.write('both', 'old')
    await bench.checkpoints.baseline(turnOf(1))
    bench.write('both', 'by the first')
    bench.checkpoints = bench.again()
    await bench.checkpoints.keep(turnOf(2), join(bench.root, 'both'))
    bench.write('both', 'by the second')
    await bench.checkpoints.end(turnOf(2))
    const { conflicts, restored } = await bench.checkpoints.rewind(T, ALL)
    assert.deepEqual([conflicts, restored], [[], ['both']])
  })

  test('a change that a person made after a turn whose process died is a conflict once another turn has begun', async () => {
    using bench = new CheckpointBench()
    bench.write('file', 'old')
    await bench.checkpoints.baseline(turnOf(1))
    bench.write('file', 'by the first')
    bench.checkpoints = bench.again()
    await bench.turn(2, () => undefined)
    bench.write('file', 'by a person')
    const { conflicts } = await bench.checkpoints.rewind(T, ALL)
    assert.deepEqual(conflicts, ['file'])
    assert.equal(bench.read('file'), 'by a person')
  })

  test('a rewind restores what a turn changed whose process died', async () => {
    using bench = new CheckpointBench()
    bench.write('a.txt', 'before')
    await bench.checkpoints.baseline(turnOf(1))
    bench.write('a.txt', 'half')
    await bench.again().rewind(T, ALL)
    assert.equal(bench.read('a.txt'), 'before')
  })
})

suite('a rewind leaves alone, and names,', () => {
  test('a rewind changes nothing at all if a person changed a file after the turn', async () => {
    using bench = new CheckpointBench()
    bench.write('a.txt', '1')
    bench.write('b.txt', '1')
    await bench.turn(1, () => {
      bench.write('a.txt', '2')
      bench.write('b.txt', '2')
    })
    bench.write('a.txt', 'by a person')
    const { conflicts } = await bench.checkpoints.rewind(T, ALL)
    assert.deepEqual([conflicts, bench.read('a.txt'), bench.read('b.txt')], [['a.txt'], 'by a person', '2'])
    await bench.checkpoints.rewind(T, ALL, { conflicts: { answer: 'keep', files: ['a.txt'] } })
    assert.deepEqual([bench.read('a.txt'), bench.read('b.txt')], ['by a person', '1'])
  })

  test('a rewind leaves alone a file that a person changed between two turns that both changed it', async () => {
    using bench = new CheckpointBench()
    bench.write('a.txt', '1')
    await bench.turn(1, () => bench.write('a.txt', '2'))
    bench.write('a.txt', 'by a person')
    await bench.turn(2, () => bench.write('a.txt', '3'))
    assert.deepEqual((await bench.checkpoints.rewind(T, ALL, { dryRun: true })).conflicts, ['a.txt'])
    await bench.checkpoints.rewind(T, from(2))
    assert.equal(bench.read('a.txt'), 'by a person')
  })

  test('a rewind does not follow a link that a person left in place of a folder', async () => {
    using bench = new CheckpointBench()
    const outside = join(bench.base, 'outside')
    mkdirSync(outside)
    bench.write('sub/file', 'old')
    bench.write('other', 'old')
    symlinkSync('file', join(bench.root, 'sub/link'))
    await bench.turn(1, () => {
      rmSync(join(bench.root, 'sub'), { recursive: true })
      symlinkSync('elsewhere', join(bench.root, 'sub'))
      bench.write('other', 'new')
    })
    rmSync(join(bench.root, 'sub'))
    symlinkSync(outside, join(bench.root, 'sub'))
    assert.deepEqual((await bench.checkpoints.rewind(T, ALL)).conflicts, ['sub'])
    const { restored } = await bench.checkpoints.rewind(T, ALL, { conflicts: { answer: 'keep', files: ['sub'] } })
    assert.deepEqual([restored, bench.read('other'), readdirSync(outside)], [['other'], 'old', []])
  })

  test('a rewind leaves alone a file that changed while two turns worked in the same folder', async () => {
    using bench = new CheckpointBench()
    bench.write('a.txt', '1')
    const other = { ...turnOf(2), thread: 'other' }
    await bench.checkpoints.baseline(turnOf(1))
    await bench.checkpoints.baseline(other)
    bench.write('a.txt', '2')
    await bench.checkpoints.end(turnOf(1))
    await bench.checkpoints.end(other)
    assert.deepEqual((await bench.checkpoints.rewind(T, ALL)).conflicts, ['a.txt'])
  })
})

suite('changes', () => {
  test('lists the files of a thread with their contents before and after', async () => {
    using bench = new CheckpointBench()
    bench.write('a.txt', '1')
    bench.write('gone.txt', 'g')
    await bench.turn(1, () => bench.write('a.txt', '2'))
    await bench.turn(2, () => {
      bench.write('a.txt', '3')
      bench.write('new.bin', Buffer.from([0, 1]))
      rmSync(join(bench.root, 'gone.txt'))
    })
    const end = '\\ No newline at end of file'
    const changed = ['--- a/a.txt', '+++ b/a.txt', '@@ -1 +1 @@', '-1', end, '+3', end, ''].join('\n')
    const deleted = ['--- a/gone.txt', '+++ /dev/null', '@@ -1 +0,0 @@', '-g', end, ''].join('\n')
    assert.deepEqual(await bench.checkpoints.changes(T), [
      { path: 'a.txt', status: 'changed', before: '1', after: '3', diff: changed },
      { path: 'gone.txt', status: 'deleted', before: 'g', diff: deleted },
      { path: 'new.bin', status: 'created', isBinary: true },
    ])
    assert.deepEqual(await bench.checkpoints.changes(rootLineage('other')), [])
  })

  test('are forgotten with their contents, unless another turn or the folder still has these', async () => {
    using bench = new CheckpointBench()
    const has = (content: string): boolean => {
      const id = execFileSync('git', ['hash-object', '--stdin'], { input: content, encoding: 'utf8' }).trim()
      const [name = ''] = readdirSync(bench.folder)
      const args = [`--git-dir=${join(bench.folder, name)}`, 'cat-file', '-e', id]
      return spawnSync('git', args, { stdio: 'ignore' }).status === 0
    }
    bench.write('a.txt', 'at first')
    await bench.turn(1, () => bench.write('a.txt', 'in the middle'))
    const kept = turnOf(2)
    await bench.checkpoints.keep(kept, join(bench.root, 'a.txt'))
    bench.write('a.txt', 'then')
    await bench.checkpoints.end(kept)
    const other = { ...turnOf(3), thread: 'other' }
    await bench.checkpoints.baseline(other)
    bench.write('a.txt', 'now')
    await bench.checkpoints.end(other)
    assert.deepEqual(['at first', 'in the middle', 'then', 'now'].map(has), [true, true, true, true])
    await bench.checkpoints.forget('t', { from: 1, to: 1 })
    assert.deepEqual(['at first', 'in the middle', 'then', 'now'].map(has), [false, true, true, true])
    await bench.again().forget('t')
    assert.deepEqual(['in the middle', 'then', 'now'].map(has), [false, true, true])
    assert.deepEqual(await bench.checkpoints.changes(T), [])
    await bench.checkpoints.rewind(rootLineage('other'), ALL)
    assert.equal(bench.read('a.txt'), 'then')
  })

  test('changes of two processes in one folder do not interfere', async () => {
    using bench = new CheckpointBench()
    for (let n = 0; n < 200; n++) bench.write(`f${n}.txt`, String(n))
    const processes = Array.from({ length: 4 }, () => bench.again())
    await Promise.all(processes.map((each, n) => each.baseline({ ...turnOf(n + 1), thread: `thread${n}` })))
    bench.write('f0.txt', 'changed')
    const found = await Promise.all(processes.map((each, n) => each.end({ ...turnOf(n + 1), thread: `thread${n}` })))
    assert.deepEqual(
      found.map((changes) => changes.map(({ path }) => path)),
      Array.from({ length: 4 }, () => ['f0.txt']),
    )
  })

  test('are kept where only their owner can read them', async () => {
    using bench = new CheckpointBench()
    await bench.turn(1, () => bench.write('a.txt', '2'))
    const [name = ''] = readdirSync(bench.folder)
    assert.equal(lstatSync(join(bench.folder, name)).mode & 0o077, 0)
  })
})
