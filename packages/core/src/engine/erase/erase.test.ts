import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { NO_RULES } from '@inspan/protocol'
import type { RawSpool } from '@inspan/protocol/driver'
import type { RecordBody } from '@inspan/protocol/log'
import type { Store } from '@inspan/protocol/store'
import { openSpool, SpoolFolder } from '@inspan/shell/run'
import { MemoryStore, SqliteStore } from '@inspan/stores'
import { filesHolding } from '../../../test/stores/files.ts'
import { inTempDir } from '../../../test/stores/temp-dir.ts'
import { boundaryAt } from '../threads/boundaries.ts'
import { clearHistory, eraseRange } from './erase.ts'
import { recordsAfter } from '../log/load-state.ts'
import { openTestThread } from '../thread.fixture.ts'
import { ThreadLog } from '../log/thread-log.ts'
import { createThread, forkThread } from '../threads/threads.ts'
import { TurnRecorder } from '../turns/turn-recorder.ts'

const SECRET = 'correct-horse-battery-staple'

/** Records a run with these words in everything that can hold words. */
async function say(log: ThreadLog, runId: string, words: string): Promise<{ from: number; to: number }> {
  const long = `${words} `.repeat(2000)
  const from = log.state.head.seq + 1
  await log.commit(
    [
      {
        type: 'run.started',
        runId,
        agentId: 'a',
        rules: NO_RULES,
        requestContext: { words },
        turn: { instructions: words },
      },
      { type: 'message.added', messageId: `${runId}-q`, role: 'user', parts: [{ id: '0', type: 'text', text: long }] },
      { type: 'turn.started', turnId: `${runId}-t`, agentId: 'a' },
    ],
    { run: runId },
  )
  const recorder = new TurnRecorder({ log, runId, turnId: `${runId}-t`, agentId: 'a' })
  await recorder.record({ type: 'step-start', stepIndex: 0, meta: { request: { system: words, tools: [words] } } })
  await recorder.record({ type: 'reasoning-delta', text: `I think ${words}` })
  await log.flush()
  await recorder.record({ type: 'text-delta', text: `They say ${words}` })
  await recorder.record({ type: 'tool-call', toolCallId: 'c', toolName: 'run', args: { words } })
  await recorder.record({ type: 'tool-result', toolCallId: 'c', toolName: 'run', result: long })
  await recorder.record({ type: 'error', error: { name: 'Error', message: words } })
  await recorder.record({ type: 'step-finish', stepIndex: 0, finishReason: 'stop' })
  await log.commit(
    [
      {
        type: 'wait.opened',
        wait: { id: `${runId}-w`, kind: 'question', subject: { args: { words } }, description: words },
      },
      {
        type: 'queue.added',
        item: { id: `${runId}-i`, lane: 'steer', parts: [{ id: '0', type: 'text', text: long }] },
      },
      { type: 'tasks.changed', tasks: [{ id: 't', content: words, status: 'pending', activeForm: words }] },
      { type: 'note', kind: 'info', text: words },
    ],
    { run: runId },
  )
  await log.commit([{ type: 'wait.answered', waitId: `${runId}-w`, answer: { decision: 'approve', value: words } }])
  await recorder.finish(false, (outcome) => [{ type: 'run.ended', runId, outcome }])
  return { from, to: log.state.head.seq }
}

function bind(agentId: string, syncedTo: number): RecordBody {
  return { type: 'binding.changed', binding: { agentId, nativeId: `native-${agentId}`, syncedTo } }
}

/** Returns everything a store has about a thread, as one text. */
async function everything(store: Store, log: ThreadLog): Promise<string> {
  const { lineage } = log.state.head
  return JSON.stringify([
    await Array.fromAsync(recordsAfter(store, log.stream, 0)),
    await store.listMessages(lineage, { order: 'oldest', limit: 1000 }),
    await store.listWaits({ stream: log.stream }),
    await store.listThreads({}),
    log.state,
    log.committed,
  ])
}

const stores: { readonly [name: string]: (directory: string) => Promise<Store> } = {
  memory: async () => new MemoryStore(),
  SQLite: (directory) => SqliteStore.open({ url: join(directory, 'data.db') }),
}

for (const [name, open] of Object.entries(stores)) {
  suite(`erasing a range (${name})`, () => {
    test(
      'takes it out of records, views, head, blobs, title and raw output, and leaves the rest',
      inTempDir(async (directory) => {
        await using thread = await openTestThread(await open(directory))
        const { store, log } = thread
        const spool = new SpoolFolder(join(directory, 'spools'))
        const harmless = await say(log, 'run-1', 'harmless')
        const { from, to } = await say(log, 'run-2', SECRET)
        await log.commit([
          bind('early', harmless.to),
          bind('late', to),
          { type: 'config.changed', title: `${SECRET}…` },
        ])
        const hashes = (JSON.stringify(await Array.fromAsync(recordsAfter(store, 'thread', from - 1))).match(
          /(?<="blob":")[0-9a-f]{64}/g,
        ) ?? []) as string[]
        assert.ok(hashes.length >= 4)
        for (const runId of ['run-1', 'run-2']) {
          const opened = await openSpool({ dir: spool.dirOf({ threadId: 'thread', runId, turnId: 't' }) })
          opened.note({ said: runId === 'run-2' ? SECRET : 'harmless' })
          await opened.close()
        }
        assert.ok((await everything(store, log)).includes(SECRET))

        const report = await eraseRange(store, log, { from, to, spool, reason: 'asked for' })

        assert.ok(!(await everything(store, log)).includes(SECRET))
        assert.ok(!(await everything(store, await thread.reopen())).includes(SECRET))
        for (const hash of hashes) {
          assert.ok(!(await store.readBlob(hash))?.bytes.toString().includes(SECRET))
        }
        assert.deepEqual(await filesHolding(directory, SECRET).catch(() => []), [])
        const raw = await readdir(spool.root, { recursive: true, withFileTypes: true })
        for (const file of raw.filter((entry) => entry.isFile())) {
          assert.ok(!(await readFile(join(file.parentPath, file.name), 'utf8')).includes(SECRET))
        }
        assert.deepEqual(report.spools, ['run-2'])
        assert.equal(report.isTitleCleared, true)
        assert.equal((await store.getThread('thread'))?.title, null)
        assert.deepEqual(report.remains, [{ kind: 'native-session', agentId: 'late', nativeId: 'native-late' }])
        assert.equal(log.state.head.bindings.get('late')?.stale, 'erased')
        assert.equal(log.state.head.bindings.get('early')?.stale, undefined)
        const kept = await store.listMessages(log.state.head.lineage, { order: 'oldest' })
        assert.deepEqual(
          kept.items.map((message) => message.role),
          ['user', 'assistant'],
        )
        assert.ok(raw.some((entry) => entry.isFile() && entry.parentPath.includes('run-1')))
        const last = (await Array.fromAsync(recordsAfter(store, 'thread', to))).find(
          ({ body }) => body.type === 'erased',
        )
        assert.deepEqual(last?.body, { type: 'erased', from, to, reason: 'asked for' })
      }),
    )

    test(
      'goes to the ends of the messages it touches: half a one would still show the other half',
      inTempDir(async (directory) => {
        await using thread = await openTestThread(await open(directory))
        const { store, log } = thread
        await say(log, 'run-1', SECRET)
        const records = await Array.fromAsync(recordsAfter(store, 'thread', 0))
        const call = records.find(({ body }) => body.type === 'tool-call')?.seq ?? 0
        const report = await eraseRange(store, log, { from: call, to: call })
        const started = records.find(({ body }) => body.type === 'message.started')
        const ended = records.findLast(({ body }) => body.type === 'message.ended')
        assert.equal(report.from, started?.seq)
        assert.ok(report.to >= (ended?.seq ?? Infinity))
        const { items } = await store.listMessages(log.state.head.lineage, { order: 'oldest' })
        assert.deepEqual(
          items.map((message) => message.role),
          ['user'],
        )
        const asked = records.find(({ body }) => body.type === 'wait.opened')?.seq ?? 0
        const answered = records.find(({ body }) => body.type === 'wait.answered')?.seq
        assert.equal((await eraseRange(store, log, { from: asked, to: asked })).to, answered)
        const left = (await Array.fromAsync(recordsAfter(store, 'thread', 0))).filter(({ body }) =>
          body.type.startsWith('wait.'),
        )
        assert.ok(!JSON.stringify(left).includes(SECRET))
      }),
    )

    test(
      'keeps a title that somebody gave, unless it quotes what is erased or came out of its run',
      inTempDir(async (directory) => {
        await using thread = await openTestThread(await open(directory))
        const { store, log } = thread
        const first = await say(log, 'run-1', 'the first words')
        const second = await say(log, 'run-2', 'other words')
        await log.commit([{ type: 'config.changed', title: 'Groceries' }])
        assert.equal((await eraseRange(store, log, first)).isTitleCleared, false)
        assert.equal((await store.getThread('thread'))?.title, 'Groceries')
        await log.commit([{ type: 'config.changed', title: 'Words of another kind' }], { run: 'run-2' })
        assert.equal((await eraseRange(store, log, second)).isTitleCleared, true)
        assert.equal(log.state.head.title, null)
      }),
    )

    test(
      'reaches what a rewind has hidden, and clearing the history leaves nothing of it',
      inTempDir(async (directory) => {
        await using thread = await openTestThread(await open(directory))
        const { store, log } = thread
        await log.commit([{ type: 'config.changed', mode: 'plan', goal: goal(SECRET), title: SECRET }])
        await say(log, 'run-1', SECRET)
        const report = await clearHistory(store, log)
        assert.equal(report.from, 1)
        assert.ok(!(await everything(store, log)).includes(SECRET))
        assert.deepEqual((await store.listMessages(log.state.head.lineage, { order: 'oldest' })).items, [])
        assert.equal(log.state.head.mode, 'plan')
        assert.equal(log.state.head.goal, null)
        assert.deepEqual(await filesHolding(directory, SECRET), [])
      }),
    )

    test(
      'erasing a range of a fork leaves its parent alone',
      inTempDir(async (directory) => {
        await using thread = await openTestThread(await open(directory))
        const { store, log, owner } = thread
        await say(log, 'run-1', 'of the parent')
        const to = await boundaryAt(store, log.state.head.lineage, log.state.head.seq)
        await forkThread(store, owner, log.state, { id: 'fork', resourceId: 'test', at: to })
        const fork = await ThreadLog.open({ store, stream: 'fork', fence: await owner.claim('fork') })
        await say(fork, 'run-2', SECRET)
        const report = await clearHistory(store, fork)
        assert.equal(report.from, to + 1)
        assert.ok(!(await everything(store, fork)).includes(SECRET))
        assert.equal((await store.listMessages(log.state.head.lineage, { order: 'oldest' })).items.length, 2)
      }),
    )
  })
}

suite('an erasure', () => {
  test('clears a title that a thread was made with, if it quotes what is erased', async () => {
    await using thread = await openTestThread(new MemoryStore())
    const { store, owner } = thread
    await createThread(store, { id: 'titled', resourceId: 'test', title: SECRET })
    const log = await ThreadLog.open({ store, stream: 'titled', fence: await owner.claim('titled') })
    const { isTitleCleared } = await eraseRange(store, log, await say(log, 'run-1', SECRET))
    assert.equal(isTitleCleared, true)
    assert.equal((await store.getThread('titled'))?.title, null)
  })

  test('reports which raw output it could not remove, and does the rest', async () => {
    await using thread = await openTestThread(new MemoryStore())
    const { store, log } = thread
    const range = await say(log, 'run-1', SECRET)
    const fail = (): Promise<never> => Promise.reject(new Error('the disk is read-only'))
    const spool: RawSpool = { remove: fail, removeThread: fail }
    const { remains } = await eraseRange(store, log, { ...range, spool })
    assert.deepEqual(remains, [{ kind: 'raw', runId: 'run-1', reason: 'the disk is read-only' }])
    assert.ok(!(await everything(store, log)).includes(SECRET))
  })

  test('is refused while a run is open, and for what is no range', async () => {
    await using thread = await openTestThread(new MemoryStore())
    const { store, log } = thread
    const { to } = await say(log, 'run-1', 'words')
    await assert.rejects(eraseRange(store, log, { from: 0, to }), { code: 'invalid-input' })
    await assert.rejects(eraseRange(store, log, { from: 2, to: 1 }), { code: 'invalid-input' })
    await assert.rejects(eraseRange(store, log, { from: 1, to: to + 1 }), { code: 'invalid-input' })
    await log.commit([{ type: 'run.started', runId: 'run-2', agentId: 'a', rules: NO_RULES }])
    await assert.rejects(eraseRange(store, log, { from: 1, to }), { code: 'misuse' })
  })
})

function goal(objective: string): Extract<RecordBody, { type: 'config.changed' }>['goal'] & object {
  return { objective, status: 'active', runsUsed: 0, startedAt: 1, updatedAt: 1 }
}
