import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { createTool } from '@inspan/agent'
import { InspanError } from '@inspan/protocol'
import { MemoryStore } from '@inspan/stores'
import type { HarnessConfig } from '../harness-config.ts'
import { HarnessBench } from '../harness.fixture.ts'
import { servedHarness } from '../threads/served-harness.ts'
import { does, ForeignAgent } from '../../engine/foreign-agent.fixture.ts'

class Folder implements Disposable {
  readonly base = mkdtempSync(join(tmpdir(), 'inspan-rewind-'))
  readonly root = join(this.base, 'root')

  constructor() {
    mkdirSync(this.root)
    writeFileSync(join(this.root, 'a.txt'), 'one')
  }

  get config(): Partial<HarnessConfig> {
    return {
      workspace: { root: this.root, checkpoints: { folder: join(this.base, 'kept') } },
      initialState: { yolo: true },
    }
  }

  read(path: string): string | undefined {
    return existsSync(join(this.root, path)) ? readFileSync(join(this.root, path), 'utf8') : undefined
  }

  [Symbol.dispose](): void {
    rmSync(this.base, { recursive: true, force: true })
  }
}

const call = (name: string, input: object): object => ({ toolCalls: [{ name, input }] })
const write = (path: string, content: string): object => call('write_file', { path, content })
const run = (command: string): object => call('execute_command', { command })
const DONE = { text: 'Done.' }

async function userMessages({ harness }: HarnessBench): Promise<string[]> {
  const messages = await harness.session.thread.listActiveMessages()
  return messages.filter(({ role }) => role === 'user').map(({ id }) => id)
}

suite('the files of a thread', () => {
  test('go back to before a message, whether file tools, commands or tools of the program changed them', async () => {
    using folder = new Folder()
    const touch = createTool({
      id: 'touch',
      description: 'Touches.',
      execute: () => writeFileSync(join(folder.root, 'touched.txt'), 't'),
    })
    const script = [
      write('a.txt', 'two'),
      write('b.txt', 'b'),
      DONE,
      run('sed -i s/two/three/ a.txt && mv b.txt c.txt'),
      DONE,
      call('touch', {}),
      call('delete', { path: 'a.txt' }),
      DONE,
    ]
    await using bench = new HarnessBench(script, { ...folder.config, tools: { touch } })
    for (const content of ['1', '2', '3']) await bench.harness.sendMessage({ content })
    const [first = '', second = '', third = ''] = await userMessages(bench)
    const { thread } = bench.harness.session
    assert.deepEqual(
      (await thread.changes()).map(({ path, status }) => [path, status]),
      [
        ['a.txt', 'deleted'],
        ['c.txt', 'created'],
        ['touched.txt', 'created'],
      ],
    )
    const dry = await thread.restoreFiles({ messageId: first, dryRun: true })
    assert.deepEqual([dry.restored, dry.removed], [['a.txt'], ['c.txt', 'touched.txt']])
    assert.equal(folder.read('a.txt'), undefined)
    await thread.restoreFiles({ messageId: third })
    assert.deepEqual([folder.read('a.txt'), folder.read('touched.txt')], ['three', undefined])
    await thread.restoreFiles({ messageId: second })
    assert.deepEqual([folder.read('a.txt'), folder.read('b.txt'), folder.read('c.txt')], ['two', 'b', undefined])
    await thread.restoreFiles({ messageId: first })
    assert.deepEqual([folder.read('a.txt'), folder.read('b.txt')], ['one', undefined])
  })

  test('go back after sed -i, mv, chmod, git checkout and a background process, until that continues after its turn', async () => {
    using folder = new Folder()
    const sh = (command: string): void => void execFileSync('sh', ['-c', command], { cwd: folder.root })
    writeFileSync(join(folder.root, '.gitignore'), 'go\nended\n')
    sh('git init -q && git add -A && git -c user.name=a -c user.email=a@b.c commit -qm one && echo two > a.txt')
    const background = 'echo b > b.txt; while [ ! -e go ]; do sleep 0.02; done; echo later > b.txt; touch ended'
    const script = [
      run('git checkout -q -- a.txt && sed -i s/one/three/ a.txt && chmod +x a.txt && mv a.txt moved.txt'),
      DONE,
      call('execute_command', { command: background, background: true }),
      run('while [ ! -s b.txt ]; do sleep 0.02; done'),
      DONE,
    ]
    await using bench = new HarnessBench(script, folder.config)
    for (const content of ['1', '2']) await bench.harness.sendMessage({ content })
    const [first = '', second = ''] = await userMessages(bench)
    const { thread } = bench.harness.session
    const dry = await thread.restoreFiles({ messageId: second, dryRun: true })
    assert.deepEqual([dry.removed, dry.conflicts], [['b.txt'], []])
    sh('touch go; while [ ! -e ended ]; do sleep 0.02; done')
    assert.deepEqual((await thread.restoreFiles({ messageId: second })).conflicts, ['b.txt'])
    await bench.harness.respondToToolSuspension({ resumeData: 'overwrite' })
    await thread.restoreFiles({ messageId: first })
    assert.deepEqual(
      [folder.read('a.txt'), folder.read('moved.txt'), folder.read('b.txt')],
      ['two\n', undefined, undefined],
    )
    assert.equal(statSync(join(folder.root, 'a.txt')).mode & 0o111, 0)
  })

  test('go back after a restart, to before the turn of an answer too', async () => {
    using folder = new Folder()
    const storage = new MemoryStore()
    const first = new HarnessBench([run('echo two > a.txt'), DONE] as never, { ...folder.config, storage })
    await first.harness.sendMessage({ content: 'Go.' })
    await first.harness.destroy()
    await using second = new HarnessBench([], { ...folder.config, storage })
    await second.harness.selectOrCreateThread()
    const messages = await second.harness.session.thread.listActiveMessages()
    await second.harness.session.thread.restoreFiles({ messageId: messages.at(-1)?.id ?? '' })
    assert.equal(folder.read('a.txt'), 'one')
  })

  test('go back to before a message that a fork shares with its parent, and not what the parent did later', async () => {
    using folder = new Folder()
    const script = [write('a.txt', 'two'), DONE, write('b.txt', 'parent'), DONE, write('a.txt', 'three'), DONE]
    const permissions = { categories: { edit: 'allow' } } as const
    await using bench = new HarnessBench(script, { ...folder.config, permissions })
    const { harness } = bench
    await harness.sendMessage({ content: 'In the parent.' })
    const parent = harness.session.thread.requireId()
    const fork = await harness.cloneThread()
    await harness.switchThread({ threadId: parent })
    await harness.sendMessage({ content: 'Only in the parent.' })
    await harness.switchThread({ threadId: fork.id })
    await harness.sendMessage({ content: 'In the fork.' })
    const { thread } = harness.session
    assert.deepEqual(
      (await thread.changes()).map(({ after, before, path, status }) => ({ path, status, before, after })),
      [{ path: 'a.txt', status: 'changed', before: 'one', after: 'three' }],
    )
    assert.deepEqual(await servedHarness(harness).changes(fork.id), await thread.changes())
    const [shared = ''] = await userMessages(bench)
    await thread.restoreFiles({ messageId: shared })
    assert.deepEqual([folder.read('a.txt'), folder.read('b.txt')], ['one', 'parent'])
    assert.deepEqual(await thread.changes(), [])
  })

  suite('that a person changed since', () => {
    class Changed implements AsyncDisposable {
      readonly folder = new Folder()
      readonly storage = new MemoryStore()
      bench: HarnessBench | undefined
      messageId = ''

      async open(script: readonly object[] = []): Promise<HarnessBench> {
        await this.bench?.harness.destroy()
        this.bench = new HarnessBench(script, { ...this.folder.config, storage: this.storage })
        await this.bench.harness.selectOrCreateThread()
        return this.bench
      }

      /** Changes two files in a turn, and one of them afterwards. */
      async prepare(): Promise<HarnessBench> {
        const bench = await this.open([write('a.txt', 'two'), write('b.txt', 'b'), DONE, write('c.txt', 'c'), DONE])
        await bench.harness.sendMessage({ content: 'Go.' })
        writeFileSync(join(this.folder.root, 'a.txt'), 'by a person')
        ;[this.messageId = ''] = await userMessages(bench)
        return bench
      }

      contents(): (string | undefined)[] {
        return ['a.txt', 'b.txt'].map((path) => this.folder.read(path))
      }

      async [Symbol.asyncDispose](): Promise<void> {
        await this.bench?.harness.destroy()
        this.folder[Symbol.dispose]()
      }
    }

    for (const [resumeData, contents] of [
      ['overwrite', ['one', undefined]],
      ['keep', ['by a person', undefined]],
      ['cancel', ['by a person', 'b']],
    ] as const) {
      test(`are listed by a question, which is answered after a restart with "${resumeData}"`, async () => {
        await using changed = new Changed()
        const { harness } = await changed.prepare()
        const { conflicts, waitId = '' } = await harness.session.thread.restoreFiles({ messageId: changed.messageId })
        assert.deepEqual([conflicts, changed.contents()], [['a.txt'], ['by a person', 'b']])
        const again = (await changed.open()).harness
        const [question] = again.session.suspensions.list()
        assert.equal(question?.toolCallId, waitId)
        assert.deepEqual((question.suspendPayload as { files?: unknown }).files, ['a.txt'])
        await assert.rejects(
          again.respondToToolSuspension({ toolCallId: waitId, resumeData: 'yes' }),
          /does not answer/,
        )
        await again.respondToToolSuspension({ toolCallId: waitId, resumeData })
        assert.deepEqual(changed.contents(), contents)
        assert.equal(again.session.suspensions.hasPending(), false)
      })
    }

    test('are asked about again when another one has changed since, and a later turn is not undone', async () => {
      await using changed = new Changed()
      const { harness } = await changed.prepare()
      const { thread } = harness.session
      const first = await thread.restoreFiles({ messageId: changed.messageId })
      await harness.sendMessage({ content: 'Another file.' })
      writeFileSync(join(changed.folder.root, 'b.txt'), 'by a person too')
      const answer = { toolCallId: first.waitId ?? '', resumeData: 'overwrite' }
      await assert.rejects(harness.respondToToolSuspension(answer), (error) => InspanError.is(error, 'conflict'))
      assert.deepEqual(changed.contents(), ['by a person', 'by a person too'])
      const [question, ...others] = harness.session.suspensions.list()
      assert.deepEqual(
        [question?.suspendPayload, others],
        [{ ...(question?.suspendPayload as object), files: ['a.txt', 'b.txt'] }, []],
      )
      await harness.respondToToolSuspension({ resumeData: 'overwrite' })
      assert.deepEqual([...changed.contents(), changed.folder.read('c.txt')], ['one', undefined, 'c'])
    })

    test('keep the conversation where it is until the answer, in a rewind of both', async () => {
      await using changed = new Changed()
      const { harness } = await changed.prepare()
      const served = servedHarness(harness)
      const threadId = harness.session.thread.requireId()
      const entered = await served.enter(threadId, {
        resourceId: 'test',
        begin: () => undefined,
        onEvicted: async () => undefined,
      })
      await entered.runtime.execute({ type: 'rewind', messageId: changed.messageId, scope: 'both' })
      assert.equal((await userMessages(changed.bench ?? assert.fail())).length, 1)
      await harness.respondToToolSuspension({ resumeData: 'keep' })
      assert.equal((await userMessages(changed.bench ?? assert.fail())).length, 0)
      assert.deepEqual(changed.contents(), ['by a person', undefined])
      await entered.leave()
    })
  })

  test('are listed by a record for every turn that changed some', async () => {
    using folder = new Folder()
    const storage = new MemoryStore()
    const script = [
      write('a.txt', 'two'),
      run('echo b > b.txt'),
      DONE,
      { text: 'Nothing to do.' },
      call('delete', { path: 'a.txt' }),
      DONE,
    ]
    await using bench = new HarnessBench(script, { ...folder.config, storage })
    for (const content of ['1', '2', '3']) await bench.harness.sendMessage({ content })
    const { items } = await storage.readRecords(bench.harness.session.thread.requireId(), { limit: 1000 })
    const made = items.flatMap(({ body, turn }) => (body.type === 'checkpoint.made' ? [{ ...body, turn }] : []))
    assert.deepEqual(
      made.map(({ files, root }) => ({ files, root })),
      [
        {
          root: folder.root,
          files: [
            { path: 'a.txt', change: 'changed' },
            { path: 'b.txt', change: 'added' },
          ],
        },
        { root: folder.root, files: [{ path: 'a.txt', change: 'removed' }] },
      ],
    )
    assert.deepEqual(
      made.map(({ checkpointId }) => checkpointId),
      made.map(({ turn }) => turn),
    )
  })

  test('cannot go back where nothing keeps them', async () => {
    using folder = new Folder()
    const workspace = { root: folder.root, checkpoints: false } as const
    await using bench = new HarnessBench([write('a.txt', 'two'), DONE] as never, { ...folder.config, workspace })
    await bench.harness.sendMessage({ content: 'Go.' })
    const [messageId = ''] = await userMessages(bench)
    await assert.rejects(bench.harness.session.thread.restoreFiles({ messageId }), /not kept/)
    assert.deepEqual(await bench.harness.session.thread.changes(), [])
  })

  test('are kept before the turn of a foreign agent begins, which works in the folder of the workspace', async () => {
    using folder = new Folder()
    const begun: string[] = []
    const foreign = new ForeignAgent('foreign', [
      does((cwd) => {
        begun.push(cwd)
        writeFileSync(join(cwd, 'a.txt'), 'foreign')
        writeFileSync(join(cwd, 'new.txt'), 'foreign')
      }),
    ])
    await using bench = new HarnessBench([], { ...folder.config, agent: foreign })
    await bench.harness.sendMessage({ content: 'Go.' })
    assert.deepEqual([begun, folder.read('a.txt')], [[folder.root], 'foreign'])
    const [messageId = ''] = await userMessages(bench)
    await bench.harness.session.thread.restoreFiles({ messageId })
    assert.deepEqual([folder.read('a.txt'), folder.read('new.txt')], ['one', undefined])
  })
})
