import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { connect, type Client } from '@inspan/client'
import { uuidV7 } from './commands/uuid.ts'
import { ServerBench } from './server.fixture.ts'

const write = (content: string) => ({ toolCalls: [{ name: 'write_file', input: { path: 'a.txt', content } }] })
const DONE = { text: 'Done.' }

class Place implements AsyncDisposable {
  readonly base = realpathSync(mkdtempSync(join(tmpdir(), 'inspan-served-trees-')))
  readonly root = join(this.base, 'root')
  #bench: ServerBench | undefined
  #client: Client | undefined

  static async start(
    script: Parameters<typeof ServerBench.start>[0],
    { isRepository = true, ...serve }: { readonly worktrees?: boolean; readonly isRepository?: boolean } = {},
  ): Promise<Place> {
    const place = new Place()
    const { base, root } = place
    mkdirSync(root)
    writeFileSync(join(root, 'a.txt'), 'before')
    if (isRepository) {
      const git = (...args: string[]): unknown =>
        execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b.c', ...args], { cwd: root })
      git('init', '-q', '-b', 'main')
      git('add', '-A')
      git('commit', '-qm', 'first')
    }
    const workspace = { root, checkpoints: { folder: join(base, 'kept') }, worktrees: { folder: join(base, 'trees') } }
    const permissions = { categories: { read: 'allow', edit: 'allow' } } as const
    place.#bench = await ServerBench.start(script, { harness: { workspace, permissions }, serve })
    place.#client = await connect({ url: place.#bench.url, token: place.#bench.token })
    return place
  }

  get client(): Client {
    assert.ok(this.#client !== undefined)
    return this.#client
  }

  get file(): string {
    return readFileSync(join(this.root, 'a.txt'), 'utf8')
  }

  /** Sends a message to a thread and returns the folder of its worktree when the run is over. */
  async say(thread: string): Promise<string | undefined> {
    const { client } = this
    await client.open(thread)
    const { runId } = await client.send({ type: 'submit', prompt: 'Write.' }).receipt
    await new Promise<void>((resolve) => {
      const look = (): void => {
        if (client.getState().head.lastRun?.runId === runId) resolve()
      }
      client.subscribe(look)
      look()
    })
    const tree = client.getState().head.settings.get('worktree') as { path: string } | undefined
    return tree?.path
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#client?.close()
    await this.#bench?.[Symbol.asyncDispose]()
    rmSync(this.base, { recursive: true, force: true })
  }
}

suite('threads in worktrees', { timeout: 60_000 }, () => {
  test('are made where the server offers them, and leave the folder of the workspace alone', async () => {
    await using place = await Place.start([write('one'), DONE, write('two'), DONE], { worktrees: true })
    const { client } = place
    assert.equal(await client.routes.offersWorktrees(), true)
    const first = await client.routes.createThread({ title: 'One', worktree: true })
    const tree = await place.say(first.id)
    assert.deepEqual([place.file, readFileSync(join(tree ?? '', 'a.txt'), 'utf8')], ['before', 'one'])
    const plain = await client.routes.createThread()
    assert.equal(await place.say(plain.id), undefined)
    assert.equal(place.file, 'two')
  })

  test('are forked with a worktree of their own, by command and by route, also when the command is sent again', async () => {
    await using place = await Place.start([write('one'), DONE, write('fork'), DONE, write('route'), DONE], {
      worktrees: true,
    })
    const { client } = place
    const origin = await client.routes.createThread({ worktree: true })
    const tree = (await place.say(origin.id)) ?? ''
    const fork = { type: 'fork', worktree: true, id: uuidV7() } as const
    const { status, thread = '' } = await client.send(fork).receipt
    assert.equal(status, 'done')
    assert.equal((await client.send(fork).receipt).thread, thread)
    const forkTree = (await place.say(thread)) ?? ''
    const routed = await client.routes.forkThread(origin.id, { worktree: true })
    const routedTree = (await place.say(routed.id)) ?? ''
    assert.equal(new Set([tree, forkTree, routedTree]).size, 3)
    const texts = [tree, forkTree, routedTree].map((folder) => readFileSync(join(folder, 'a.txt'), 'utf8'))
    assert.deepEqual([place.file, ...texts], ['before', 'one', 'fork', 'route'])
  })

  test('end with their changes in the workspace or without them, and the thread continues there', async () => {
    await using place = await Place.start([write('one'), DONE, write('two'), DONE, { text: 'Here.' }], {
      worktrees: true,
    })
    const { client } = place
    const kept = await client.routes.createThread({ worktree: true })
    const dropped = await client.routes.createThread({ worktree: true })
    const trees = [(await place.say(kept.id)) ?? '', (await place.say(dropped.id)) ?? '']
    assert.equal(place.file, 'before')
    await client.routes.endWorktree(dropped.id, 'discard')
    assert.equal(place.file, 'before')
    await client.routes.endWorktree(kept.id, 'apply')
    assert.equal(place.file, 'one')
    assert.deepEqual(
      trees.map((tree) => existsSync(tree)),
      [false, false],
    )
    assert.equal(await place.say(kept.id), undefined)
    await assert.rejects(client.routes.endWorktree(kept.id, 'apply'), /has no worktree/)
  })

  test('threads whose changes do not apply stay as they are, and so does the workspace', async () => {
    await using place = await Place.start([write('one'), DONE], { worktrees: true })
    const { client } = place
    const { id } = await client.routes.createThread({ worktree: true })
    const tree = (await place.say(id)) ?? ''
    writeFileSync(join(place.root, 'a.txt'), 'changed by hand')
    await assert.rejects(client.routes.endWorktree(id, 'apply'), /do not fit/)
    assert.deepEqual([place.file, readFileSync(join(tree, 'a.txt'), 'utf8')], ['changed by hand', 'one'])
  })

  test('are refused by a server that does not offer them, and nothing is made', async () => {
    await using place = await Place.start([write('one'), DONE])
    const { client } = place
    assert.equal(await client.routes.offersWorktrees(), false)
    const { id } = await client.routes.createThread({ title: 'Only' })
    await place.say(id)
    await assert.rejects(client.routes.createThread({ worktree: true }), /does not offer worktrees/)
    await assert.rejects(client.routes.forkThread(id, { worktree: true }), /does not offer worktrees/)
    const { reason, status } = await client.send({ type: 'fork', worktree: true }).receipt
    assert.deepEqual([status, reason], ['rejected', 'unsupported'])
    const { threads } = await client.routes.threads()
    assert.equal(threads.filter(({ forkedFrom }) => forkedFrom !== undefined).length, 0)
    assert.equal(existsSync(join(place.base, 'trees')), false)
  })

  test('need a repository: without one no thread is left behind', async () => {
    await using place = await Place.start([write('one'), DONE], { worktrees: true, isRepository: false })
    const { client } = place
    const { id } = await client.routes.createThread({ title: 'Only' })
    await place.say(id)
    const before = (await client.routes.threads()).threads.length
    await assert.rejects(client.routes.createThread({ worktree: true }), /repository/)
    const { reason, status } = await client.send({ type: 'fork', worktree: true }).receipt
    assert.deepEqual([status, reason], ['rejected', 'unsupported'])
    assert.equal((await client.routes.threads()).threads.length, before)
  })
})
