import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { InspanError } from '@inspan/protocol'
import { MemoryStore } from '@inspan/stores'
import type { HarnessConfig } from '../harness-config.ts'
import { HarnessBench } from '../harness.fixture.ts'

class Repository implements Disposable {
  readonly base = realpathSync(mkdtempSync(join(tmpdir(), 'inspan-worktrees-')))
  readonly root = join(this.base, 'root')
  readonly storage = new MemoryStore()

  constructor() {
    mkdirSync(this.root)
    this.git('init', '-q', '-b', 'main')
    writeFileSync(join(this.root, 'a.txt'), 'one\n')
    this.git('config', 'user.name', 'a')
    this.git('config', 'user.email', 'a@b.c')
    this.git('add', '-A')
    this.git('commit', '-qm', 'first')
  }

  get config(): Partial<HarnessConfig> {
    const { base, root, storage } = this
    return {
      storage,
      workspace: { root, checkpoints: { folder: join(base, 'kept') }, worktrees: { folder: join(base, 'trees') } },
      permissions: { categories: { edit: 'allow', execute: 'allow' } },
    }
  }

  git(...args: string[]): string {
    return execFileSync('git', args, { cwd: this.root, encoding: 'utf8' }).trim()
  }

  read(path: string): string {
    return readFileSync(join(this.root, path), 'utf8')
  }

  [Symbol.dispose](): void {
    rmSync(this.base, { recursive: true, force: true })
  }
}

const call = (name: string, input: object): object => ({ toolCalls: [{ name, input }] })
const write = (path: string, content: string): object => call('write_file', { path, content })
const commit = call('execute_command', { command: 'git add -A && git commit -qm done && pwd' })
const DONE = { text: 'Done.' }
const isConflict = (error: unknown): boolean => InspanError.is(error, 'conflict')

suite('a worktree of a thread', () => {
  test('is made on request, is where the thread works, is shown after a restart, and is merged back', async () => {
    using repository = new Repository()
    const first = new HarnessBench([write('a.txt', 'two\n'), DONE], repository.config)
    await first.harness.selectOrCreateThread()
    assert.equal(await first.harness.session.thread.worktree.get(), null)
    const tree = await first.harness.session.thread.worktree.create()
    await first.harness.sendMessage({ content: 'Write.' })
    assert.deepEqual([repository.read('a.txt'), readFileSync(join(tree.path, 'a.txt'), 'utf8')], ['one\n', 'two\n'])
    await first.harness.destroy()

    await using second = new HarnessBench([commit, DONE], repository.config)
    const { harness } = second
    await harness.selectOrCreateThread()
    const { thread } = harness.session
    assert.deepEqual(await thread.worktree.get(), { ...tree, uncommitted: ['a.txt'], unmerged: 0 })
    await assert.rejects(thread.worktree.merge(), isConflict)
    await assert.rejects(thread.worktree.remove(), isConflict)
    assert.equal((await thread.changes())[0]?.path, 'a.txt')
    await harness.sendMessage({ content: 'Commit.' })
    const [end] = second.all('tool_end')
    assert.match(JSON.stringify(end?.result), new RegExp(tree.path))
    assert.deepEqual(await thread.worktree.get(), { ...tree, uncommitted: [], unmerged: 1 })
    await thread.worktree.merge()
    assert.equal(repository.read('a.txt'), 'two\n')
    await thread.worktree.remove()
    assert.equal(existsSync(tree.top), false)
    assert.equal(repository.git('branch', '--list', 'inspan/*'), '')
    assert.equal(await thread.worktree.get(), null)
  })

  test('goes with its thread, but never with work that is not committed', async () => {
    using repository = new Repository()
    await using bench = new HarnessBench([write('new.txt', 'n'), DONE], repository.config)
    const { harness } = bench
    const clean = await harness.createThread()
    const one = await harness.session.thread.worktree.create()
    assert.deepEqual((await harness.session.thread.delete({ threadId: clean.id })).remains, [])
    assert.equal(existsSync(one.top), false)

    const working = await harness.createThread()
    const two = await harness.session.thread.worktree.create()
    await harness.sendMessage({ content: 'Write.' })
    const { remains } = await harness.session.thread.delete({ threadId: working.id })
    assert.deepEqual(
      remains.map((left) => (left.kind === 'worktree' ? left.path : left.kind)),
      [two.top],
    )
    assert.equal(readFileSync(join(two.path, 'new.txt'), 'utf8'), 'n')
  })

  test('keeps a branch with commits that are nowhere else, and a merge that does not fit changes nothing', async () => {
    using repository = new Repository()
    await using bench = new HarnessBench([write('a.txt', 'theirs\n'), commit, DONE], repository.config)
    const { harness } = bench
    await harness.createThread()
    const { worktree } = harness.session.thread
    const { branch } = await worktree.create()
    await assert.rejects(worktree.create(), (error) => InspanError.is(error, 'already-exists'))
    await harness.sendMessage({ content: 'Write.' })
    writeFileSync(join(repository.root, 'a.txt'), 'ours\n')
    repository.git('commit', '-qam', 'ours')
    await assert.rejects(worktree.merge(), (error) => isConflict(error) && /a\.txt/.test(String(error)))
    assert.deepEqual([repository.read('a.txt'), repository.git('status', '--porcelain')], ['ours\n', ''])
    await worktree.remove()
    assert.equal(repository.git('log', '-1', '--format=%s', branch), 'done')
  })

  test('stays while it has commits that are on no branch, also when its thread is deleted', async () => {
    using repository = new Repository()
    const lost = call('execute_command', {
      command: 'git checkout -q --detach && echo lost > lost.txt && git add -A && git commit -qm lost',
    })
    await using bench = new HarnessBench([lost, DONE], repository.config)
    const { harness } = bench
    await harness.createThread()
    const { thread } = harness.session
    const { top } = await thread.worktree.create()
    await harness.sendMessage({ content: 'Work.' })
    await assert.rejects(thread.worktree.remove(), (error) => isConflict(error) && /on no branch/.test(String(error)))
    const { remains } = await thread.delete({ threadId: thread.requireId() })
    assert.deepEqual(
      remains.map(({ kind }) => kind),
      ['worktree'],
    )
    assert.equal(readFileSync(join(top, 'lost.txt'), 'utf8'), 'lost\n')
  })

  test('is used only where we make them, whatever a setting of the thread contains', async () => {
    using repository = new Repository()
    await using bench = new HarnessBench([write('x.txt', 'x'), DONE], repository.config)
    const { harness } = bench
    await harness.createThread()
    const elsewhere = join(repository.base, 'elsewhere')
    mkdirSync(elsewhere)
    const threadId = harness.session.thread.requireId()
    const value = { path: elsewhere, top: elsewhere, branch: 'b', thread: threadId }
    await harness.session.thread.setSetting({ key: 'worktree', value })
    await harness.sendMessage({ content: 'Write.' })
    assert.deepEqual([existsSync(join(elsewhere, 'x.txt')), repository.read('x.txt')], [false, 'x'])
    await harness.session.thread.delete({ threadId })
    assert.ok(existsSync(elsewhere))
  })

  test('is under the same rules: a path pattern means the worktree, however the path is written', async () => {
    using repository = new Repository()
    const patterns = [{ tool: 'write_file', pattern: 'secret.txt', policy: 'deny' }] as const
    const first = new HarnessBench([], repository.config)
    await first.harness.createThread()
    const { path } = await first.harness.session.thread.worktree.create()
    await first.harness.destroy()
    const script = [
      write('secret.txt', 's'),
      write(join(path, 'secret.txt'), 's'),
      write(join(path, 'open.txt'), 'o'),
      DONE,
    ]
    const permissions = { categories: { edit: 'allow' }, patterns } as const
    await using bench = new HarnessBench(script, { ...repository.config, permissions })
    await bench.harness.selectOrCreateThread()
    await bench.harness.sendMessage({ content: 'Write.' })
    assert.deepEqual([existsSync(join(path, 'secret.txt')), existsSync(join(path, 'open.txt'))], [false, true])
  })

  test('needs a repository with a commit', async () => {
    using repository = new Repository()
    rmSync(join(repository.root, '.git'), { recursive: true })
    await using bench = new HarnessBench([], repository.config)
    await bench.harness.createThread()
    await assert.rejects(bench.harness.session.thread.worktree.create(), (error) =>
      InspanError.is(error, 'unsupported'),
    )
  })
})
