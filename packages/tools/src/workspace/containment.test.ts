import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import fs, { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import type { JsonObject } from '@inspan/protocol'
import { WorkspaceBench } from './workspace.fixture.ts'

/** Every file tool that takes a path, with an input for it. */
const WAYS: readonly [string, (path: string) => JsonObject][] = [
  ['read_file', (path) => ({ path })],
  ['write_file', (path) => ({ path, content: 'mine' })],
  ['edit_file', (path) => ({ path, old_string: 'secret', new_string: 'mine' })],
  ['list_files', (path) => ({ path })],
  ['delete', (path) => ({ path, recursive: true })],
  ['file_stat', (path) => ({ path })],
  ['mkdir', (path) => ({ path: `${path}/new` })],
  ['grep', (path) => ({ path, pattern: 'secret' })],
  ['execute_command', (path) => ({ command: 'cat secret.txt', cwd: path })],
]

const SWAPPED: readonly [string, JsonObject][] = [
  ['read_file', { path: 'dir/x.txt' }],
  ['write_file', { path: 'dir/x.txt', content: 'new' }],
  ['write_file', { path: 'dir/made/new.txt', content: 'new' }],
  ['edit_file', { path: 'dir/x.txt', old_string: 'mine', new_string: 'new' }],
  ['list_files', { path: 'dir' }],
  ['delete', { path: 'dir/x.txt' }],
  ['delete', { path: 'dir/sub', recursive: true }],
  ['delete', { path: 'dir', recursive: true }],
  ['file_stat', { path: 'dir/x.txt' }],
  ['mkdir', { path: 'dir/made' }],
  ['grep', { path: 'dir', pattern: 'secret|mine', all: true }],
]

const FS_CALLS = [
  'openSync',
  'readdirSync',
  'lstatSync',
  'readlinkSync',
  'mkdirSync',
  'renameSync',
  'unlinkSync',
  'rmdirSync',
  'readFileSync',
] as const

/** Does something right before one of the next calls of the file system. */
class CallsBefore {
  haveHappened = false
  readonly #originals = FS_CALLS.map((name) => [name, fs[name]] as const)

  constructor(at: number, act: () => void) {
    let count = 0
    for (const [name, original] of this.#originals) {
      const counted = (...args: unknown[]): unknown => {
        count++
        if (count === at) {
          this.haveHappened = true
          this.stop()
          act()
        }
        return Reflect.apply(original, fs, args)
      }
      Object.assign(fs, { [name]: counted })
    }
    syncBuiltinESMExports()
  }

  stop(): void {
    Object.assign(fs, Object.fromEntries(this.#originals))
    syncBuiltinESMExports()
  }
}

suite('a path cannot leave the workspace', () => {
  test('by .., as an absolute path, through a link to a folder or a file, or through a chain of links', async () => {
    await using bench = new WorkspaceBench()
    const { outside, root } = bench
    writeFileSync(join(outside, 'secret.txt'), 'secret')
    mkdirSync(join(root, 'in'))
    symlinkSync(outside, join(root, 'link'))
    symlinkSync('../../outside', join(root, 'in/relative'))
    symlinkSync('in/relative', join(root, 'chain'))
    symlinkSync(join(outside, 'secret.txt'), join(root, 'file'))
    const paths = [
      '../outside',
      'in/../../outside',
      './in/.././../outside',
      outside,
      '/etc',
      'link',
      'link/.',
      'in/relative',
      'chain',
      'chain/../outside',
    ]
    for (const [name, input] of WAYS) {
      for (const path of paths) {
        // The link itself is inside: tools can stat and delete it, but not its target.
        const isLinkItself = ['link', 'in/relative', 'chain'].includes(path)
        if (isLinkItself && (name === 'delete' || name === 'file_stat')) continue
        const { isError, result } = await bench.call(name, input(path))
        assert.ok(isError === true, `${name} ${path}: ${JSON.stringify(result)}`)
        assert.doesNotMatch(JSON.stringify(result), /secret"|"secret/, `${name} ${path}`)
      }
    }
    for (const name of ['read_file', 'write_file', 'edit_file', 'grep']) {
      const way = WAYS.find(([each]) => each === name)
      assert.match(await bench.refusal(name, way?.[1]('file') ?? {}), /outside of the workspace/, name)
    }
    assert.deepEqual(readdirSync(outside), ['secret.txt'])
    assert.equal(readFileSync(join(outside, 'secret.txt'), 'utf8'), 'secret')
  })

  test('by another case or another Unicode form of its own name', async () => {
    await using bench = new WorkspaceBench()
    const sibling = join(bench.base, 'ROOT')
    mkdirSync(sibling)
    mkdirSync(join(bench.base, 'root\u{301}'))
    for (const path of [sibling, '../ROOT', '../root\u{301}', '../roo\u{165}', `${bench.root}\u{200B}/../outside`]) {
      assert.match(
        await bench.refusal('write_file', { path: join(path, 'x'), content: '' }),
        /outside|There is no/,
        path,
      )
    }
    assert.deepEqual(readdirSync(sibling), [])
  })

  test('by a name with a NUL character, or by circular links', async () => {
    await using bench = new WorkspaceBench()
    symlinkSync('b', join(bench.root, 'a'))
    symlinkSync('a', join(bench.root, 'b'))
    assert.match(await bench.refusal('read_file', { path: 'a\0.txt' }), /NUL/)
    assert.match(await bench.refusal('read_file', { path: 'a' }), /too many links/)
  })

  test('but an absolute path inside it, and a link that stays inside, work', async () => {
    await using bench = new WorkspaceBench()
    mkdirSync(join(bench.root, 'a/b'), { recursive: true })
    writeFileSync(join(bench.root, 'a/b/c.txt'), 'here')
    symlinkSync('../a/b', join(bench.root, 'a/up'))
    symlinkSync(join(bench.root, 'a'), join(bench.root, 'absolute'))
    for (const path of [join(bench.root, 'a/b/c.txt'), 'a/up/c.txt', 'absolute/b/c.txt', 'a/b/../b//./c.txt']) {
      assert.equal(await bench.result('read_file', { path }), 'here', path)
    }
  })

  test('by a folder that is swapped for a link before any one call of the system', async () => {
    // The calls that load a tool are not counted.
    await using loaded = new WorkspaceBench({ shell: false })
    for (const [name, input] of SWAPPED) await loaded.call(name, input)
    for (const [name, input] of SWAPPED) {
      let isOver = false
      for (let at = 1; !isOver; at++) {
        await using bench = new WorkspaceBench({ shell: false })
        const { outside, root } = bench
        mkdirSync(join(root, 'dir/sub'), { recursive: true })
        mkdirSync(join(outside, 'sub'))
        for (const file of ['x.txt', 'sub/y.txt']) {
          writeFileSync(join(root, 'dir', file), 'mine')
          writeFileSync(join(outside, file), 'secret')
        }
        const before = readdirSync(outside, { recursive: true })
        const calls = new CallsBefore(at, () => {
          renameSync(join(root, 'dir'), join(root, 'kept'))
          symlinkSync(outside, join(root, 'dir'))
        })
        const { result } = await bench.call(name, input).finally(() => calls.stop())
        isOver = !calls.haveHappened
        const what = `${name}, before call ${at}`
        assert.doesNotMatch(JSON.stringify(result), /secret/, what)
        assert.deepEqual(readdirSync(outside, { recursive: true }), before, what)
        for (const file of ['x.txt', 'sub/y.txt']) {
          assert.equal(readFileSync(join(outside, file), 'utf8'), 'secret', what)
        }
        assert.ok(at > 3 || !isOver, `${name} makes calls`)
      }
    }
  })

  test('by a folder that another process swaps for a link between the check and the use', async () => {
    await using bench = new WorkspaceBench()
    const { outside, root } = bench
    mkdirSync(join(root, 'dir'))
    const swapper = spawn(
      process.execPath,
      [
        '-e',
        `const fs = require('node:fs')
         const [root, outside] = process.argv.slice(1)
         process.stdout.write('ready')
         for (;;) {
           try { fs.renameSync(root + '/dir', root + '/kept') } catch {}
           try { fs.symlinkSync(outside, root + '/dir') } catch {}
           try { fs.unlinkSync(root + '/dir') } catch {}
           try { fs.renameSync(root + '/kept', root + '/dir') } catch {}
           try { fs.rmSync(root + '/kept', { recursive: true }) } catch {}
         }`,
        root,
        outside,
      ],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    )
    try {
      await once(swapper.stdout, 'data')
      let written = 0
      for (let count = 0; count < 10_000; count++) {
        const { isError } = await bench.call('write_file', { path: 'dir/x.txt', content: String(count) })
        if (isError !== true) written++
      }
      assert.ok(written > 0, 'some writes found the folder')
      assert.ok(written < 10_000, 'some writes found the link')
      assert.deepEqual(readdirSync(outside), [])
    } finally {
      swapper.kill('SIGKILL')
      await once(swapper, 'exit')
    }
  })
})

suite('access that a person granted', () => {
  test('covers a folder with everything below it, or one file, and nothing next to them', async () => {
    await using bench = new WorkspaceBench()
    const { outside } = bench
    mkdirSync(join(outside, 'given'))
    writeFileSync(join(outside, 'given/a.txt'), 'a')
    writeFileSync(join(outside, 'single.txt'), 's')
    writeFileSync(join(outside, 'secret.txt'), 'secret')
    symlinkSync('../secret.txt', join(outside, 'given/link'))
    const allowed = { allowedPaths: [join(outside, 'given'), join(outside, 'single.txt')] }
    assert.equal(await bench.result('read_file', { path: join(outside, 'given/a.txt') }, allowed), 'a')
    assert.equal(await bench.result('read_file', { path: join(outside, 'single.txt') }, allowed), 's')
    await bench.result('write_file', { path: join(outside, 'given/new.txt'), content: 'n' }, allowed)
    for (const path of ['secret.txt', 'given/../secret.txt', 'given/link']) {
      assert.match(await bench.refusal('read_file', { path: join(outside, path) }, allowed), /outside/, path)
      assert.match(await bench.refusal('read_file', { path: `${outside}/${path}` }, allowed), /outside/, path)
    }
    assert.match(await bench.refusal('read_file', { path: join(outside, 'given/a.txt') }), /request_access/)
  })

  test('ends where the path becomes a link: it was granted for what was there then', async () => {
    await using bench = new WorkspaceBench()
    const { outside } = bench
    for (const folder of ['given', 'above/given', 'elsewhere/given'])
      mkdirSync(join(outside, folder), { recursive: true })
    for (const file of ['given/a.txt', 'above/given/a.txt', 'single.txt']) writeFileSync(join(outside, file), 'mine')
    for (const file of ['elsewhere/a.txt', 'elsewhere/given/a.txt', 'secret.txt']) {
      writeFileSync(join(outside, file), 'secret')
    }
    const allowedPaths = ['given', 'above/given', 'single.txt', 'new.txt'].map((path) => join(outside, path))
    const files = ['given/a.txt', 'above/given/a.txt', 'single.txt'].map((path) => join(outside, path))
    for (const path of files) assert.equal(await bench.result('read_file', { path }, { allowedPaths }), 'mine')
    for (const [path, target] of [
      ['given', 'elsewhere'],
      ['above', 'elsewhere'],
      ['single.txt', 'secret.txt'],
      ['new.txt', 'secret.txt'],
    ] as const) {
      rmSync(join(outside, path), { recursive: true, force: true })
      symlinkSync(join(outside, target), join(outside, path))
    }
    for (const path of [...files, join(outside, 'new.txt')]) {
      for (const [name, input] of WAYS.filter(([each]) => each !== 'file_stat' && each !== 'delete')) {
        const { isError, result } = await bench.call(name, input(path), { allowedPaths })
        assert.ok(isError === true || result === 'No matches.', `${name} ${path}: ${JSON.stringify(result)}`)
      }
    }
    for (const file of ['elsewhere/a.txt', 'elsewhere/given/a.txt', 'secret.txt']) {
      assert.equal(readFileSync(join(outside, file), 'utf8'), 'secret', file)
    }
  })
})
