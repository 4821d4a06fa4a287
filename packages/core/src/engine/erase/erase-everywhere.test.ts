import assert from 'node:assert/strict'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { NO_RULES } from '@inspan/protocol'
import type { LogRecord, RecordBody } from '@inspan/protocol/log'
import type { Store } from '@inspan/protocol/store'
import { SpoolFolder } from '@inspan/shell/run'
import { MemoryStore, SqliteStore } from '@inspan/stores'
import { inTempDir } from '../../../test/stores/temp-dir.ts'
import { boundaryAt } from '../threads/boundaries.ts'
import { clearHistory, eraseRange } from './erase.ts'
import {
  assertFolds,
  COMMAND,
  noteHashes,
  placesOf,
  sayAgain,
  sayEverywhere,
  spoolRun,
  task,
  text,
  WORD,
} from './erase-everywhere.fixture.ts'
import { recordsAfter } from '../log/load-state.ts'
import { openTestThread, type TestThread } from '../thread.fixture.ts'
import { ThreadLog } from '../log/thread-log.ts'
import { forkThread, rewindThread } from '../threads/threads.ts'

const stores: { readonly [name: string]: (directory: string) => Promise<Store> } = {
  memory: async () => new MemoryStore(),
  SQLite: (directory) => SqliteStore.open({ url: join(directory, 'data.db') }),
}

/** Opens a thread with the word everywhere, including repetitions. */
async function spoken(
  directory: string,
  store: Store,
): Promise<{ thread: TestThread; spool: SpoolFolder; from: number; to: number }> {
  const thread = await openTestThread(store)
  const spool = new SpoolFolder(join(directory, 'spools'))
  await thread.log.commit([
    { type: 'tasks.changed', tasks: [task('0', 'An old task')] },
    { type: 'config.changed', state: { theme: 'dark' }, settings: { effort: 'high' }, rules: NO_RULES },
    text('before', 'Hello'),
  ])
  const range = await sayEverywhere(store, thread.log, spool)
  return { thread, spool, ...range }
}

for (const [name, open] of Object.entries(stores)) {
  suite(`after an erasure no word of it is left (${name})`, () => {
    test(
      'where it was said, nor where it was written down again',
      inTempDir(async (directory) => {
        const { thread, spool, from, to } = await spoken(directory, await open(directory))
        await using opened = thread
        const { store, log } = opened
        await sayAgain(store, log, spool)
        await noteHashes(store, [log])
        assert.ok((await placesOf(directory, store, [log])).length > 30)

        const report = await eraseRange(store, log, { from, to, spool })

        assert.deepEqual(await placesOf(directory, store, [log]), [])
        assert.deepEqual(await placesOf(directory, store, [await opened.reopen()]), [])
        await assertFolds(store, log)
        assert.deepEqual(report.remains, [])
        assert.deepEqual(report.spools, ['run', 'next'])
        assert.equal(report.isTitleCleared, true)
        assert.equal(report.isMemoryCleared, true)
        const { head } = log.state
        assert.deepEqual([head.title, head.goal, head.om, head.tasks], [null, null, null, []])
        assert.deepEqual(head.state.toJSON(), { theme: 'dark' })
        assert.deepEqual(head.settings.toJSON(), { effort: 'high' })
        const { items } = await store.listMessages(head.lineage, { order: 'oldest' })
        assert.deepEqual(
          items.map(({ id }) => id),
          ['before'],
        )
      }),
    )

    test(
      'in what was still waiting to be answered, or to be said',
      inTempDir(async (directory) => {
        const store = await open(directory)
        await using thread = await openTestThread(store)
        const { log } = thread
        await log.commit([
          text('before', 'Hello'),
          {
            type: 'wait.opened',
            wait: {
              id: 'w',
              kind: 'question',
              subject: { args: { q: WORD }, hash: 'h', judgedAs: ['j'] },
              description: WORD,
              payload: { q: WORD },
              interrupted: true,
            },
          },
          { type: 'queue.added', item: { id: 'q', lane: 'follow-up', parts: [{ id: '0', type: 'text', text: WORD }] } },
        ])
        await eraseRange(store, log, { from: 2, to: 3 })
        assert.deepEqual(await placesOf(directory, store, [log]), [])
        const row = await store.getWait('thread', 'w')
        assert.deepEqual([row?.state, row?.reason, row?.wait.description], ['cancelled', 'erase', ''])
        assert.deepEqual([log.state.head.queue.size, log.state.head.waits.size], [0, 0])
        await assertFolds(store, log)
        // The same as a fold of the remaining records.
        const bare = new MemoryStore()
        await using copy = await openTestThread(bare)
        const records = await Array.fromAsync(recordsAfter(store, 'thread', 0))
        await bare.append({ stream: 'thread', fence: copy.fence, records })
        await copy.reopen()
        assert.deepEqual(await bare.getWait('thread', 'w'), row)
      }),
    )

    test(
      'after a rewind that carried the tasks along',
      inTempDir(async (directory) => {
        const { thread, spool, from, to } = await spoken(directory, await open(directory))
        await using opened = thread
        const { store, log } = opened
        await log.commit([text('after', 'Something else')])
        const end = await boundaryAt(store, log.state.head.lineage, to)
        await rewindThread(store, log, end)
        await log.commit([text('later', 'And on')])
        await rewindThread(store, log, end)
        assert.equal(log.state.head.tasks[0]?.content, WORD)
        await noteHashes(store, [log])
        await eraseRange(store, log, { from, to, spool })
        assert.deepEqual(await placesOf(directory, store, [log]), [])
        assert.deepEqual(log.state.head.tasks, [])
        await assertFolds(store, log)
        // Rewinding back and forth restores nothing.
        await rewindThread(store, log, from - 1)
        assert.deepEqual(
          log.state.head.tasks.map(({ content }) => content),
          ['An old task'],
        )
        assert.deepEqual(await placesOf(directory, store, [log]), [])
      }),
    )

    test(
      'in forks of what was erased, and in forks of these',
      inTempDir(async (directory) => {
        const { thread, spool, from, to } = await spoken(directory, await open(directory))
        await using opened = thread
        const { store, log, owner } = opened
        await log.commit([
          { type: 'binding.changed', binding: { agentId: 'codex', nativeId: 'native', syncedTo: to } },
          text('after', 'Something else'),
        ])
        await forkThread(store, owner, log.state, { id: 'early', resourceId: 'test', at: from - 1, title: 'Early' })
        await forkThread(store, owner, log.state, {
          id: 'fork',
          resourceId: 'test',
          at: log.state.head.seq,
          title: WORD,
        })
        const fork = await ThreadLog.open({ store, stream: 'fork', fence: await owner.claim('fork') })
        assert.equal(fork.state.head.tasks[0]?.content, WORD)
        await fork.commit([
          { type: 'run.started', runId: 'in-fork', agentId: 'a', rules: NO_RULES },
          text('of-fork', 'On its own'),
          { type: 'tasks.changed', tasks: [...fork.state.head.tasks, task('3', 'One more')] },
          text('of-run', 'In its run'),
          { type: 'run.ended', runId: 'in-fork', outcome: 'complete' },
        ])
        await spoolRun(spool, 'fork', 'in-fork')
        const end = await boundaryAt(store, fork.state.head.lineage, fork.state.head.seq)
        await rewindThread(store, fork, end)
        await forkThread(store, owner, fork.state, { id: 'of-fork', resourceId: 'test', at: end })
        await fork.close()
        await owner.release('fork', fork.fence)
        await noteHashes(store, [log, fork])

        const report = await eraseRange(store, log, { from, to, spool, owner })

        assert.deepEqual(report.forks, ['fork', 'of-fork'])
        assert.deepEqual(report.remains, [{ kind: 'native-session', agentId: 'codex', nativeId: 'native' }])
        const forks: ThreadLog[] = []
        for (const stream of ['fork', 'of-fork']) {
          const again = await ThreadLog.open({ store, stream, fence: await owner.claim(stream) })
          forks.push(again)
          await assertFolds(store, again)
          assert.equal(again.state.head.bindings.get('codex')?.stale, 'erased')
          assert.deepEqual(again.state.head.tasks, [])
          assert.equal((await store.getThread(stream))?.title, null)
        }
        assert.equal((await store.getThread('early'))?.title, 'Early')
        assert.deepEqual(
          (await store.listMessages(forks[0]?.state.head.lineage ?? [], { order: 'oldest' })).items.map(({ id }) => id),
          ['before', 'after', 'of-fork', 'of-run'],
        )
        assert.deepEqual(await placesOf(directory, store, [log, ...forks]), [])
      }),
    )

    test(
      'in a fork, while its parent continues and still has what is its own',
      inTempDir(async (directory) => {
        const store = await open(directory)
        await using thread = await openTestThread(store)
        const { log, owner } = thread
        const spool = new SpoolFolder(join(directory, 'spools'))
        await log.commit([text('before', 'Hello')])
        await forkThread(store, owner, log.state, { id: 'fork', resourceId: 'test', at: log.state.head.seq })
        const fork = await ThreadLog.open({ store, stream: 'fork', fence: await owner.claim('fork') })
        await sayEverywhere(store, fork, spool)
        await noteHashes(store, [fork])
        await assert.rejects(eraseRange(store, fork, { from: 1, to: fork.state.head.seq }), {
          code: 'invalid-input',
          details: { parent: 'thread', first: 2 },
        })
        const report = await clearHistory(store, fork, { spool, owner })
        assert.deepEqual(report.remains, [{ kind: 'parent', threadId: 'thread', to: 1 }])
        assert.deepEqual(await placesOf(directory, store, [log, fork]), [])
        await assertFolds(store, fork)
        assert.equal((await store.listMessages(log.state.head.lineage, { order: 'oldest' })).items.length, 1)
      }),
    )
  })
}

suite('an erasure that finds copies', () => {
  test('erasing a message that was queued erases it from the queue, and the other way round', async () => {
    await using thread = await openTestThread(new MemoryStore())
    const { store, log } = thread
    const parts = [{ id: '0', type: 'text', text: WORD }] as const
    const queue: RecordBody = { type: 'queue.added', item: { id: 'q', lane: 'follow-up', parts } }
    const told: RecordBody[] = [{ type: 'queue.removed', itemId: 'q', reason: 'sent' }, text('m', WORD)]
    await log.commit([queue])
    await log.commit([text('between', 'Something else')])
    await log.commit(told)
    const at = log.state.head.seq
    await eraseRange(store, log, { from: at, to: at })
    assert.ok(!(await recordTexts(store)).includes(WORD))
    const [queued] = await log.commit([queue])
    await log.commit(told)
    await eraseRange(store, log, { from: queued?.seq ?? 0, to: queued?.seq ?? 0 })
    assert.ok(!(await recordTexts(store)).includes(WORD))
    assert.ok((await recordTexts(store)).includes('Something else'))
  })

  test('erasing an answer also erases the data that the run returned', async () => {
    await using thread = await openTestThread(new MemoryStore())
    const { store, log } = thread
    await log.commit([{ type: 'run.started', runId: 'r', agentId: 'a', rules: NO_RULES }], { run: 'r' })
    const [said] = await log.commit([text('m', WORD)], { run: 'r' })
    await log.commit([{ type: 'run.ended', runId: 'r', outcome: 'complete', output: { answer: WORD } }])
    await eraseRange(store, log, { from: said?.seq ?? 0, to: said?.seq ?? 0 })
    assert.ok(!(await recordTexts(store)).includes(WORD))
    assert.equal(log.state.head.lastRun?.output, undefined)
  })

  test('names the forks it could not clean, and what stays on purpose', async () => {
    await using thread = await openTestThread(new MemoryStore())
    const { store, log, owner } = thread
    const rules = { ...NO_RULES, patterns: [{ tool: 'bash', pattern: WORD, policy: 'deny' }] } as const
    const [said] = await log.commit([text('m', WORD), { type: 'config.changed', rules, settings: { editor: 'vi' } }])
    const from = said?.seq ?? 0
    await forkThread(store, owner, log.state, { id: 'fork', resourceId: 'test', at: from })
    owner.enter('fork')
    const key = { principal: 'p', clientId: 'c', commandId: COMMAND }
    const at = Number.parseInt(COMMAND.replaceAll('-', '').slice(0, 12), 16)
    await store.admitCommand({ key, bodyHash: 'h', target: 'thread', body: { text: WORD }, at })
    const { forks, remains } = await eraseRange(store, log, { from, to: log.state.head.seq, owner })
    assert.deepEqual(forks, [])
    const HELD = 'Thread fork is open in this process already. Use the runtime that has it, or close that first.'
    assert.deepEqual(remains, [
      { kind: 'fork', threadId: 'fork', reason: HELD },
      { kind: 'configuration', keys: ['rules', 'settings.editor'] },
      { kind: 'commands', count: 1 },
    ])
  })

  test('goes through the runtime of a fork that is open', async () => {
    await using thread = await openTestThread(new MemoryStore())
    const { store, log, owner } = thread
    await log.commit([text('m', WORD), { type: 'tasks.changed', tasks: [task('1', WORD)] }, text('n', 'On')])
    await forkThread(store, owner, log.state, { id: 'fork', resourceId: 'test', at: 3 })
    const fork = await ThreadLog.open({ store, stream: 'fork', fence: await owner.claim('fork') })
    const open = (): { change: <T>(task: (log: ThreadLog) => Promise<T>) => Promise<T> } => ({
      change: (task) => task(fork),
    })
    const { forks } = await eraseRange(store, log, { from: 1, to: 2, open })
    assert.deepEqual(forks, ['fork'])
    assert.deepEqual(fork.state.head.tasks, [])
    assert.ok(!(await recordTexts(store, 'fork')).includes(WORD))
  })
})

async function recordTexts(store: Store, stream = 'thread'): Promise<string> {
  const records: LogRecord[] = await Array.fromAsync(recordsAfter(store, stream, 0))
  return JSON.stringify(records)
}
