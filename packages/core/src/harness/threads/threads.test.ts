import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { createTool } from '@inspan/agent'
import { InspanError } from '@inspan/protocol'
import type { RawSpool } from '@inspan/protocol/driver'
import { MemoryStore, SqliteStore } from '@inspan/stores'
import { scriptedModel } from '@inspan/testing'
import { HarnessBench } from '../harness.fixture.ts'
import { readThread } from '../../engine/index.ts'

/** A lock that keeps a journal of its calls, and in which the given threads are taken. */
function watchedLock(taken: readonly string[] = []) {
  const journal: string[] = []
  return {
    journal,
    acquire: (threadId: string): void => {
      if (taken.includes(threadId)) throw new Error(`${threadId} is locked elsewhere`)
      journal.push(`+${threadId}`)
    },
    release: async (threadId: string): Promise<void> => void journal.push(`-${threadId}`),
  }
}

function counter(): () => string {
  let count = 0
  return () => `id-${++count}`
}

suite('threads', () => {
  test('a new one is reported, has the ids of the harness and starts in the current mode', async () => {
    await using bench = new HarnessBench([], { idGenerator: counter(), resourceId: 'project' })
    const thread = await bench.harness.createThread({ title: 'New conversation' })
    assert.equal(thread.id, 'id-1')
    assert.equal(thread.title, 'New conversation')
    assert.equal(thread.resourceId, 'project')
    assert.deepEqual(bench.all('thread_created')[0]?.thread, thread)
    assert.equal(bench.harness.session.thread.getId(), 'id-1')
    assert.equal(bench.harness.session.thread.requireId(), 'id-1')
  })

  test('the newest of the resource is selected, and reported', async (t) => {
    // Everything may happen within a millisecond, and then no thread would be newer.
    t.mock.timers.enable({ apis: ['Date'] })
    const storage = new MemoryStore()
    await using first = new HarnessBench([{ text: 'One.' }], { storage })
    const old = await first.harness.createThread()
    await first.harness.createThread()
    await first.harness.switchThread({ threadId: old.id })
    t.mock.timers.tick(1)
    await first.harness.sendMessage({ content: 'Hi' })
    await first.harness.destroy()
    await using other = new HarnessBench([], { storage, resourceId: 'other' })
    assert.notEqual((await other.harness.selectOrCreateThread()).id, old.id)
    await using second = new HarnessBench([], { storage })
    const selected = await second.harness.selectOrCreateThread()
    assert.equal(selected.id, old.id)
    assert.deepEqual(second.all('thread_changed'), [
      { type: 'thread_changed', threadId: old.id, previousThreadId: null },
    ])
    assert.equal((await second.harness.selectOrCreateThread()).id, old.id)
    assert.equal(second.all('thread_changed').length, 1)
  })

  test('switching ends what is being done, and remembers mode and model of each', async () => {
    const slow = scriptedModel([{ hang: true, text: 'Half' }])
    await using bench = new HarnessBench([], {
      modes: [{ id: 'plan' }, { id: 'build', defaultModelId: 'some/model' }],
      resolveModel: () => slow,
    })
    const one = await bench.harness.createThread()
    const two = await bench.harness.createThread()
    await bench.harness.session.mode.switch({ modeId: 'build' })
    const begun = bench.next('message_update')
    const sent = bench.harness.sendMessage({ content: 'Hi' })
    await begun
    await bench.harness.switchThread({ threadId: one.id })
    await sent
    assert.equal(bench.all('agent_end').at(-1)?.reason, 'aborted')
    assert.deepEqual(bench.all('thread_changed').at(-1), {
      type: 'thread_changed',
      threadId: one.id,
      previousThreadId: two.id,
    })
    assert.equal(bench.harness.session.mode.get(), 'plan')
    assert.equal(bench.all('mode_changed').at(-1)?.modeId, 'plan')
    await bench.harness.switchThread({ threadId: two.id })
    assert.equal(bench.harness.session.mode.get(), 'build')
    assert.equal(bench.harness.session.model.get(), 'some/model')
  })

  test('switching to the current one ends nothing, and reports again what waits there', async () => {
    const paint = createTool({ id: 'paint', description: 'Paints.', execute: () => 'ok' })
    await using bench = new HarnessBench([{ toolCalls: [{ name: 'paint', input: {} }] }, { text: 'Done.' }], {
      tools: { paint },
    })
    const { id: threadId } = await bench.harness.createThread()
    const asked = bench.next('tool_approval_required')
    const sent = bench.harness.sendMessage({ content: 'Hi' })
    await asked
    await bench.harness.switchThread({ threadId })
    assert.equal(bench.all('tool_approval_required').length, 2)
    await bench.harness.session.respondToToolApproval({ decision: 'approve' })
    await sent
    assert.deepEqual(
      bench.all('agent_end').map(({ reason }) => reason),
      ['complete'],
    )
  })

  test('a thread that does not exist cannot be switched to, and no lock is taken for it', async () => {
    const lock = watchedLock()
    await using bench = new HarnessBench([], { threadLock: lock, idGenerator: counter() })
    await bench.harness.createThread()
    await assert.rejects(bench.harness.switchThread({ threadId: 'nowhere' }), (error) =>
      InspanError.is(error, 'not-found'),
    )
    assert.equal(bench.harness.session.thread.getId(), 'id-1')
    assert.deepEqual(lock.journal, ['+id-1'])
  })

  test('the new lock is taken before the old one is let go, and the last on destroy', async () => {
    const lock = watchedLock()
    const bench = new HarnessBench([], { threadLock: lock, idGenerator: counter() })
    await bench.harness.createThread()
    await bench.harness.createThread()
    await bench.harness.destroy()
    assert.deepEqual(lock.journal, ['+id-1', '+id-2', '-id-1', '-id-2'])
  })

  test('a lock somebody else holds leaves everything as it was', async () => {
    const storage = new MemoryStore()
    const other = new HarnessBench([], { storage, idGenerator: () => 'taken' })
    await other.harness.createThread()
    await other.harness.destroy()
    const lock = watchedLock(['taken'])
    await using bench = new HarnessBench([{ text: 'Yes.' }], { storage, threadLock: lock, idGenerator: counter() })
    await bench.harness.createThread()
    await assert.rejects(bench.harness.switchThread({ threadId: 'taken' }), /locked elsewhere/)
    await bench.harness.sendMessage({ content: 'Still here?' })
    assert.equal(bench.harness.session.thread.getId(), 'id-1')
    assert.deepEqual(lock.journal, ['+id-1'])
  })

  test('another resource means no thread, and its lock is let go', async () => {
    const lock = watchedLock()
    await using bench = new HarnessBench([], { threadLock: lock, idGenerator: counter() })
    await bench.harness.createThread()
    await bench.harness.setResourceId({ resourceId: 'project-xyz' })
    assert.equal(bench.harness.session.thread.getId(), null)
    assert.equal(bench.harness.session.identity.getResourceId(), 'project-xyz')
    assert.equal(bench.harness.session.identity.getDefaultResourceId(), 'bench')
    assert.deepEqual(lock.journal, ['+id-1', '-id-1'])
    await bench.harness.createThread()
    assert.deepEqual((await bench.harness.getKnownResourceIds()).sort(), ['bench', 'project-xyz'])
  })

  test('is renamed', async () => {
    await using bench = new HarnessBench([])
    await assert.rejects(bench.harness.renameThread({ title: 'No' }), (error) => InspanError.is(error, 'misuse'))
    const { id } = await bench.harness.createThread()
    await bench.harness.renameThread({ title: 'Updated title' })
    assert.equal((await bench.harness.session.thread.getById({ threadId: id }))?.title, 'Updated title')
    assert.equal((await bench.harness.session.thread.list())[0]?.title, 'Updated title')
  })

  test('a clone has the messages with their ids, changes on its own and starts its own count', async () => {
    await using bench = new HarnessBench([
      { text: 'One.', usage: { inputTokens: 3, outputTokens: 4 } },
      { text: 'Two.' },
    ])
    const source = await bench.harness.createThread({ title: 'First' })
    await bench.harness.sendMessage({ content: 'Hi' })
    const before = await bench.harness.session.thread.listActiveMessages()
    const clone = await bench.harness.cloneThread({ title: 'Alternative approach' })
    assert.deepEqual(bench.all('thread_created').at(-1)?.thread, clone)
    assert.equal(clone.title, 'Alternative approach')
    assert.deepEqual(await bench.harness.session.thread.listActiveMessages(), before)
    assert.equal(bench.harness.session.getTokenUsage().totalTokens, 0)
    await bench.harness.sendMessage({ content: 'And you?' })
    assert.equal((await bench.harness.session.thread.listActiveMessages()).length, 4)
    assert.equal((await bench.harness.session.thread.listMessages({ threadId: source.id })).length, 2)
    const again = await bench.harness.cloneThread({ sourceThreadId: source.id })
    assert.equal(again.title, 'Clone of First')
  })

  test('a clone of one in which nothing is asked asks again', async () => {
    const storage = new MemoryStore()
    await using bench = new HarnessBench([{ text: 'Hello.' }], { storage })
    const source = await bench.harness.createThread()
    await bench.harness.sendMessage({ content: 'Hi' })
    await bench.harness.session.permissions.setYolo({ enabled: true })
    const clone = await bench.harness.cloneThread()
    assert.equal((await readThread(storage, source.id)).head.yolo, true)
    assert.equal((await readThread(storage, clone.id)).head.yolo, false)
  })

  test('a deleted one is gone, with its lock', async () => {
    const lock = watchedLock()
    await using bench = new HarnessBench([{ text: 'One.' }], { threadLock: lock, idGenerator: counter() })
    const { id } = await bench.harness.createThread()
    await bench.harness.sendMessage({ content: 'Hi' })
    await bench.harness.memory.deleteThread({ threadId: id })
    assert.deepEqual(bench.all('thread_deleted'), [{ type: 'thread_deleted', threadId: id }])
    assert.equal(bench.harness.session.thread.getId(), null)
    assert.deepEqual(lock.journal, ['+id-1', '-id-1'])
    assert.equal(await bench.harness.session.thread.getById({ threadId: id }), null)
    assert.equal(bench.harness.session.displayState.get().tokenUsage.totalTokens, 0)
    await assert.rejects(bench.harness.memory.deleteThread({ threadId: id }), (error) =>
      InspanError.is(error, 'not-found'),
    )
  })

  test('one that is deleted twice at once is deleted once: for the others there is none any more', async () => {
    await using bench = new HarnessBench([])
    const { id } = await bench.harness.createThread()
    const other = await bench.harness.createSession()
    const isNone = (error: unknown): string => (InspanError.is(error, 'not-found') ? 'none' : String(error))
    const answers = await Promise.all(
      [bench.harness.session, bench.harness.session, other].map(({ thread }) =>
        thread.delete({ threadId: id }).then(() => 'deleted', isNone),
      ),
    )
    // Any of them may have been the first.
    const count = (what: string): number => answers.filter((answer) => answer === what).length
    assert.deepEqual([count('deleted'), count('none')], [1, 2], answers.join())
  })

  test('one that is deleted while it works ends its run, takes its raw output along and reports what a fork keeps', async () => {
    const storage = new MemoryStore()
    const removed: string[] = []
    const spool: RawSpool = {
      remove: () => assert.fail('A thread goes as a whole.'),
      removeThread: ({ threadId }) => Promise.resolve(removed.push(threadId) > 0),
    }
    await using bench = new HarnessBench([{ text: 'One.' }, { text: 'Two…', hang: true }], { storage, spool })
    const { id } = await bench.harness.createThread()
    await bench.harness.sendMessage({ content: 'Hi' })
    const clone = await bench.harness.cloneThread()
    await bench.harness.switchThread({ threadId: id })
    const answer = bench.harness.sendMessage({ content: 'And on' }).catch(() => undefined)
    await bench.next('message_update', ({ message }) => JSON.stringify(message).includes('Two'))
    const report = await bench.harness.memory.deleteThread({ threadId: id })
    await answer
    assert.deepEqual(
      report.retained.map(({ stream, neededBy }) => [stream, neededBy]),
      [[id, [clone.id]]],
    )
    assert.deepEqual([report.deleted, report.remains, removed], [true, [], [id]])
    assert.equal(bench.all('agent_end').length, 2)
    assert.equal(bench.harness.session.run.isRunning(), false)
    assert.equal(await storage.getThread(id), null)
    // The clone still has the messages it shares.
    await bench.harness.switchThread({ threadId: clone.id })
    assert.equal((await bench.harness.session.thread.listActiveMessages()).length, 2)
    assert.deepEqual((await bench.harness.memory.deleteThread({ threadId: clone.id })).retained, [])
    await assert.rejects(storage.readLineage([{ stream: id, from: 1, to: 1 }], {}), { code: 'not-found' })
  })

  test('are listed page by page, or all', async () => {
    await using bench = new HarnessBench([], { idGenerator: counter() })
    for (let i = 0; i < 5; i++) await bench.harness.createThread()
    const first = await bench.harness.memory.listThreads({ limit: 2 })
    assert.equal(first.length, 2)
    assert.notEqual(first.next, null)
    const rest = await bench.harness.memory.listThreads({
      limit: 10,
      ...(first.next === null ? {} : { cursor: first.next }),
    })
    assert.equal(rest.next, null)
    const all = await bench.harness.session.thread.list()
    assert.deepEqual(
      [...first, ...rest].map(({ id }) => id),
      all.map(({ id }) => id),
    )
    const { currentModeId, currentThreadId, threads } = await bench.harness.getSession()
    assert.deepEqual([currentModeId, currentThreadId, threads.length], ['build', 'id-5', 5])
  })

  test('the hidden ones of subagents are listed only when asked for', async () => {
    const storage = new MemoryStore()
    await storage.createStream({
      kind: 'thread',
      headSeq: 0,
      info: {
        id: 'fork',
        resourceId: 'bench',
        title: null,
        createdAt: 1,
        updatedAt: 1,
        hidden: true,
        metadata: { forkedSubagent: true },
      },
    })
    await using bench = new HarnessBench([], { storage })
    assert.equal((await bench.harness.session.thread.list()).length, 0)
    assert.equal((await bench.harness.session.thread.list({ includeForkedSubagents: true })).length, 1)
  })

  test('the first message of a thread is found without reading it all', async () => {
    await using bench = new HarnessBench([{ text: 'One.' }, { text: 'Two.' }])
    const { id } = await bench.harness.createThread()
    await bench.harness.sendMessage({ content: 'First' })
    await bench.harness.sendMessage({ content: 'Second' })
    const empty = await bench.harness.createThread()
    const { thread } = bench.harness.session
    const first = await thread.firstUserMessage({ threadId: id })
    assert.deepEqual(first?.content, [{ type: 'text', text: 'First' }])
    const found = await thread.firstUserMessages({ threadIds: [id, empty.id, 'nowhere'] })
    assert.deepEqual([...found.keys()], [id])
    const newest = await thread.listMessages({ threadId: id, limit: 2 })
    assert.deepEqual(
      newest.map(({ content }) => content[0]),
      [
        { type: 'text', text: 'Second' },
        { type: 'text', text: 'Two.' },
      ],
    )
  })

  test('the first message of a thread is that of its user, whatever came before', async () => {
    await using bench = new HarnessBench([{ text: 'Yes.', repeat: true }])
    const { harness } = bench
    const { id } = await harness.createThread()
    await harness.sendNotificationSignal({ source: 'ci', kind: 'build', summary: 'It broke.', priority: 'low' })
    await harness.saveSystemReminderMessage({ message: 'Be kind.', reminderType: 'manners' })
    const { thread } = harness.session
    assert.equal(await thread.firstUserMessage({ threadId: id }), null)
    await harness.sendMessage({ content: 'First' })
    assert.deepEqual((await thread.firstUserMessage({ threadId: id }))?.content, [{ type: 'text', text: 'First' }])
  })

  test('settings are kept with the thread', async () => {
    const storage = new MemoryStore()
    const first = new HarnessBench([], { storage })
    await first.harness.createThread()
    await first.harness.session.thread.setSetting({ key: 'theme', value: 'dark' })
    await first.harness.session.thread.setSetting({ key: 'gone', value: 1 })
    await first.harness.session.thread.deleteSetting({ key: 'gone' })
    await first.harness.destroy()
    await using second = new HarnessBench([], { storage })
    await second.harness.selectOrCreateThread()
    assert.equal(second.harness.session.thread.getSetting({ key: 'theme' }), 'dark')
    assert.equal(second.harness.session.thread.getSetting({ key: 'gone' }), undefined)
  })

  test('is in use elsewhere: nothing is taken, and the error names who has it', async () => {
    await using last = new AsyncDisposableStack()
    const folder = await mkdtemp(join(tmpdir(), 'inspan-held-'))
    last.defer(() => rm(folder, { recursive: true, force: true }))
    // Two store objects on one file count as two processes.
    const [storage, far] = [
      new SqliteStore({ url: join(folder, 'a.db') }),
      new SqliteStore({ url: join(folder, 'a.db') }),
    ]
    last.defer(() => storage.close())
    last.defer(() => far.close())
    await using first = new HarnessBench([{ hang: true, text: 'Half' }], { storage })
    const { id } = await first.harness.createThread()
    const begun = first.next('message_update')
    const sent = first.harness.sendMessage({ content: 'Hi' })
    await begun
    const lock = watchedLock()
    await using second = new HarnessBench([], { storage: far, threadLock: lock })
    await assert.rejects(second.harness.switchThread({ threadId: id }), (error) => InspanError.is(error, 'held'))
    assert.equal(second.harness.session.thread.getId(), null)
    assert.deepEqual(lock.journal, [`+${id}`, `-${id}`])
    await first.harness.abort()
    await sent
  })
})
