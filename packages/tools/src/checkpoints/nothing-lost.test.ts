/** What a turn may do to a folder so that going back would lose something, or stop half way. */
import assert from 'node:assert/strict'
import {
  appendFileSync,
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { ALL, CheckpointBench, T, turnOf } from './checkpoints.fixture.ts'

function committed(files: Readonly<Record<string, string>>): CheckpointBench {
  const bench = new CheckpointBench(true)
  for (const [path, content] of Object.entries(files)) bench.write(path, content)
  bench.git('add', '-A')
  bench.git('commit', '-qm', 'first')
  return bench
}

suite('a rewind needs nothing of the repository of the user', () => {
  test('a turn that deletes .git is undone, as far as the files go', async () => {
    using bench = committed({ 'src/a.txt': 'a', 'b.txt': 'b' })
    await bench.turn(1, () => {
      for (const path of ['.git', 'src']) rmSync(join(bench.root, path), { recursive: true })
      bench.write('b.txt', 'changed')
    })
    await bench.checkpoints.rewind(T, ALL)
    assert.deepEqual([bench.read('src/a.txt'), bench.read('b.txt')], ['a', 'b'])
  })

  test('a turn that resets staged work and has git forget it is undone', async () => {
    using bench = committed({ 'a.txt': 'a' })
    bench.write('a.txt', 'staged')
    bench.write('new.txt', 'staged too')
    bench.git('add', '-A')
    await bench.turn(1, () => {
      bench.git('reset', '-q', '--hard')
      bench.git('reflog', 'expire', '--expire=now', '--all')
      bench.git('gc', '-q', '--prune=now')
    })
    await bench.checkpoints.rewind(T, ALL)
    assert.deepEqual([bench.read('a.txt'), bench.read('new.txt')], ['staged', 'staged too'])
  })

  test('files that git was told not to look at are restored', async () => {
    using bench = committed({ 'a.txt': 'a', 'b.txt': 'b' })
    bench.git('update-index', '--assume-unchanged', 'a.txt')
    bench.git('update-index', '--skip-worktree', 'b.txt')
    await bench.turn(1, () => {
      for (const path of ['a.txt', 'b.txt']) bench.write(path, 'changed')
    })
    assert.deepEqual((await bench.checkpoints.rewind(T, ALL)).restored, ['a.txt', 'b.txt'])
    assert.deepEqual([bench.read('a.txt'), bench.read('b.txt')], ['a', 'b'])
  })

  test('what was taken over from it is forgotten with the last turn that needs it', async () => {
    using bench = committed({ 'a.txt': 'taken over' })
    const id = bench.git('hash-object', 'a.txt').trim()
    const has = (): boolean => {
      const [name = ''] = readdirSync(bench.folder)
      const answer = bench.git(
        `--git-dir=${join(bench.folder, name)}`,
        'cat-file',
        '--batch-all-objects',
        '--batch-check',
      )
      return answer.includes(id)
    }
    await bench.turn(1, () => bench.write('a.txt', 'changed'))
    assert.ok(has())
    await bench.checkpoints.forget('t')
    assert.ok(!has())
  })
})

suite('a rewind never removes a file that was there before the turn', () => {
  test('.gitignore no longer names it: it stays, and is named', async () => {
    using bench = committed({ '.gitignore': '.env\nbuild/\n', 'a.txt': 'a' })
    bench.write('.env', 'precious')
    bench.write('build/deep/x', 'built')
    await bench.turn(1, () => {
      rmSync(join(bench.root, '.gitignore'))
      bench.write('build/new', 'by the turn')
      bench.write('a.txt', 'changed')
    })
    const report = await bench.again().rewind(T, ALL, { dryRun: true })
    assert.deepEqual(report, {
      restored: ['.gitignore', 'a.txt'],
      removed: ['build/new'],
      conflicts: [],
      notCovered: ['.env', 'build/'],
      turnId: 'turn1',
    })
    assert.deepEqual(await bench.again().rewind(T, ALL), report)
    assert.deepEqual([bench.read('.env'), bench.read('build/deep/x'), bench.read('a.txt')], ['precious', 'built', 'a'])
    assert.ok(!existsSync(join(bench.root, 'build/new')))
    const changed = await bench.checkpoints.changes(T)
    assert.deepEqual(changed, [])
  })

  test('a .gitignore that named itself as well was deleted', async () => {
    using bench = committed({ 'a.txt': 'a' })
    bench.write('.venv/.gitignore', '*')
    bench.write('.venv/lib/x', 'x')
    await bench.turn(1, () => rmSync(join(bench.root, '.venv/.gitignore')))
    assert.deepEqual((await bench.checkpoints.rewind(T, ALL)).notCovered, ['.venv/'])
    assert.equal(bench.read('.venv/lib/x'), 'x')
  })

  test('it was moved out of what .gitignore names, or in from elsewhere', async () => {
    using bench = committed({ '.gitignore': '.env\n', 'old.txt': 'old', 'named.txt': 'n' })
    bench.write('.env', 'precious')
    writeFileSync(join(bench.base, 'elsewhere'), 'precious too')
    await bench.turn(1, () => {
      renameSync(join(bench.root, '.env'), join(bench.root, 'env.txt'))
      mkdirSync(join(bench.root, 'in'))
      renameSync(join(bench.base, 'elsewhere'), join(bench.root, 'in/here'))
      // A file that is kept may be removed under its new name, and so may another name of a file elsewhere.
      renameSync(join(bench.root, 'old.txt'), join(bench.root, 'new.txt'))
      appendFileSync(join(bench.root, 'new.txt'), ' and more')
      linkSync(join(bench.root, 'named.txt'), join(bench.root, 'again.txt'))
    })
    const { notCovered, removed, restored } = await bench.checkpoints.rewind(T, ALL)
    assert.deepEqual([restored, removed, notCovered], [['old.txt'], ['again.txt', 'new.txt'], ['env.txt', 'in/']])
    assert.deepEqual(
      ['env.txt', 'in/here', 'old.txt'].map((path) => bench.read(path)),
      ['precious', 'precious too', 'old'],
    )
  })

  test('another thread has looked at the folder in between', async () => {
    using bench = committed({ '.gitignore': '.env\n' })
    bench.write('.env', 'precious')
    await bench.checkpoints.baseline(turnOf(1))
    rmSync(join(bench.root, '.gitignore'))
    const other = { ...turnOf(2), thread: 'other' }
    await bench.again().baseline(other)
    await bench.checkpoints.end(turnOf(1))
    assert.deepEqual((await bench.checkpoints.rewind(T, ALL)).notCovered, ['.env'])
    assert.equal(bench.read('.env'), 'precious')
  })
})

suite('a rewind restores everything or nothing', () => {
  test('files that were reached through a link are restored once, where they are', async () => {
    using bench = new CheckpointBench()
    bench.write('dir/a.txt', 'a')
    symlinkSync('dir', join(bench.root, 'link'))
    symlinkSync('dir/made.txt', join(bench.root, 'dangling'))
    const turn = turnOf(1)
    await bench.checkpoints.baseline(turn)
    for (const path of ['link/a.txt', 'link/new.txt', 'dangling']) {
      await bench.checkpoints.keep(turn, join(bench.root, path))
      bench.write(path, 'written')
    }
    await bench.checkpoints.end(turn)
    const { removed, restored } = await bench.checkpoints.rewind(T, ALL)
    assert.deepEqual([restored, removed], [['dir/a.txt'], ['dir/made.txt', 'dir/new.txt']])
    assert.deepEqual([bench.read('dir/a.txt'), readdirSync(join(bench.root, 'dir'))], ['a', ['a.txt']])
  })

  test('a folder that was replaced by a link comes back, and what the link leads to is not looked at', async () => {
    using bench = new CheckpointBench()
    bench.write('dir/a.txt', 'a')
    mkdirSync(join(bench.base, 'outside'))
    writeFileSync(join(bench.base, 'outside/a.txt'), 'outside')
    await bench.turn(1, () => {
      rmSync(join(bench.root, 'dir'), { recursive: true })
      symlinkSync('../outside', join(bench.root, 'dir'))
    })
    const { conflicts, removed, restored } = await bench.checkpoints.rewind(T, ALL)
    assert.deepEqual([restored, removed, conflicts], [['dir/a.txt'], ['dir'], []])
    assert.equal(bench.read('dir/a.txt'), 'a')
    assert.equal(readFileSync(join(bench.base, 'outside/a.txt'), 'utf8'), 'outside')
  })

  test('a folder in the place of a file is a conflict if it has files that stay', async () => {
    using bench = committed({ '.gitignore': '*.log\n', a: 'a', b: 'b', 'c/d': 'd' })
    await bench.turn(1, () => {
      for (const path of ['a', 'b', 'c']) rmSync(join(bench.root, path), { recursive: true })
      for (const path of ['a/x.log', 'a/y', 'b/empty/y']) bench.write(path, 'by the turn')
    })
    bench.write('c', 'a file of a person')
    const { conflicts, removed, restored } = await bench.checkpoints.rewind(T, ALL)
    assert.deepEqual([restored, removed, conflicts], [['b'], ['a/y', 'b/empty/y'], ['a', 'c/d']])
    assert.deepEqual([bench.read('a/y'), bench.read('c')], ['by the turn', 'a file of a person'])
    const files = ['a', 'c/d']
    await assert.rejects(
      bench.checkpoints.rewind(T, ALL, { conflicts: { answer: 'overwrite', files } }),
      /a cannot come back: something that no checkpoint covers is in its place/,
    )
    await bench.checkpoints.rewind(T, ALL, { conflicts: { answer: 'keep', files } })
    assert.deepEqual(
      [bench.read('a/x.log'), bench.read('b'), bench.read('c')],
      ['by the turn', 'b', 'a file of a person'],
    )
    assert.ok(!existsSync(join(bench.root, 'a/y')))
  })

  test('nothing is changed when a content is missing', async () => {
    using bench = new CheckpointBench()
    for (const path of ['a.txt', 'b.txt']) bench.write(path, path)
    await bench.turn(1, () => {
      for (const path of ['a.txt', 'b.txt']) bench.write(path, 'changed')
    })
    const [name = ''] = readdirSync(bench.folder)
    const objects = join(bench.folder, name, 'objects')
    const lost = readdirSync(objects, { recursive: true, encoding: 'utf8' }).filter((path) => /^..\/.{38}$/.test(path))
    for (const path of lost) rmSync(join(objects, path))
    await assert.rejects(
      bench.checkpoints.rewind(T, ALL),
      /What these files contained is no longer there: a.txt, b.txt/,
    )
    assert.deepEqual([bench.read('a.txt'), bench.read('b.txt')], ['changed', 'changed'])
  })

  test('a file that is too large to be read at once comes back with its bytes and its permissions', async () => {
    using bench = new CheckpointBench()
    const size = 65 * 1024 * 1024
    bench.write('large', 'begin')
    truncateSync(join(bench.root, 'large'), size)
    appendFileSync(join(bench.root, 'large'), 'end')
    chmodSync(join(bench.root, 'large'), 0o600)
    const turn = turnOf(1)
    await bench.checkpoints.keep(turn, join(bench.root, 'large'))
    rmSync(join(bench.root, 'large'))
    await bench.checkpoints.end(turn)
    assert.deepEqual(await bench.checkpoints.changes(T), [{ path: 'large', status: 'deleted', isBinary: true }])
    assert.deepEqual((await bench.checkpoints.rewind(T, ALL)).restored, ['large'])
    const content = readFileSync(join(bench.root, 'large'))
    assert.deepEqual(
      [content.length, String(content.subarray(0, 5)), String(content.subarray(-3))],
      [size + 3, 'begin', 'end'],
    )
    assert.equal(statSync(join(bench.root, 'large')).mode & 0o777, 0o600)
  })
})

suite('a rewind names what it cannot put back', () => {
  test('names that are no text, and files outside of the folder', async () => {
    using bench = committed({ 'a.txt': 'a' })
    const name = Buffer.concat([Buffer.from(`${bench.root}/n`), Buffer.from([0xff])])
    await bench.turn(1, () => {
      writeFileSync(name, 'n')
      for (const path of ['-x', ':(top)y', 'two\nlines']) bench.write(path, 'n')
    })
    const turn = turnOf(2)
    await bench.checkpoints.keep(turn, join(bench.base, 'granted.txt'))
    await bench.checkpoints.end(turn)
    const { notCovered, removed } = await bench.checkpoints.rewind(T, ALL)
    assert.deepEqual(removed, ['-x', ':(top)y', 'two\nlines'])
    assert.deepEqual(notCovered, [join(bench.base, 'granted.txt'), 'n\u{FFFD}'])
    assert.ok(existsSync(name))
  })
})
