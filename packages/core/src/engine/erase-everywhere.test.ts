import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { suite, test } from 'node:test'
import {
  NO_RULES,
  reduce,
  emptyState,
  REDUCER_VERSION,
  storedMessage,
  type Goal,
  type LogRecord,
  type RecordBody,
  type Store,
  type StoredMessage,
  type TaskItem,
} from '@evener/protocol'
import { openSpool, SpoolFolder } from '@evener/shell/run'
import { inTempDir } from '../../test/stores/temp-dir.ts'
import { Inbox } from '../harness/signals/inbox.ts'
import { threadPort } from '../harness/signals/thread-port.ts'
import { MemoryStore } from '../stores/memory-store.ts'
import { SqliteStore } from '../stores/sqlite-store.ts'
import { blobOf } from './blobs.ts'
import { clearHistory, eraseRange } from './erase.ts'
import { recordsAfter } from './load-state.ts'
import { feedbackNote, scoreNote } from './run-opinions.ts'
import { openTestThread, type TestThread } from './thread.fixture.ts'
import { ThreadLog } from './thread-log.ts'
import { forkThread, rewindThread } from './threads.ts'
import { TurnRecorder } from './turn-recorder.ts'

/** Stands in every place that somebody's words can get to, and nowhere else. */
const WORD = 'Xylotheque-of-Marrakesh-1887'
const COMMAND = '0193d5e0-0000-7000-8000-000000000001'

const text = (id: string, words: string): RecordBody & { type: 'message.added' } => ({
  type: 'message.added',
  messageId: id,
  role: 'user',
  parts: [{ id: '0', type: 'text', text: words }],
})

const task = (id: string, words: string): TaskItem => ({
  id,
  content: words,
  status: 'pending',
  activeForm: `Doing: ${words}`,
})

const goal = (runsUsed: number, words: string): Goal => ({
  objective: words,
  prompt: `Judge ${words}`,
  status: 'active',
  runsUsed,
  startedAt: 1,
  updatedAt: 1,
})

/** A run in which everything says it; gives the range of its records. */
async function sayEverywhere(store: Store, log: ThreadLog, spool: SpoolFolder): Promise<{ from: number; to: number }> {
  const long = `${WORD} `.repeat(3000)
  const from = log.state.head.seq + 1
  const key = { principal: 'p', clientId: 'c', commandId: COMMAND }
  const at = Number.parseInt(COMMAND.replaceAll('-', '').slice(0, 12), 16)
  await store.admitCommand({ key, bodyHash: 'h', target: log.stream, body: { text: WORD }, at })
  await log.commit(
    [
      {
        type: 'run.started',
        runId: 'run',
        agentId: 'a',
        rules: NO_RULES,
        requestContext: { who: WORD },
        turn: { instructions: WORD },
      },
      text('asked', long),
      { type: 'turn.started', turnId: 'turn', agentId: 'a' },
    ],
    { run: 'run' },
    { outcomes: [{ key, outcome: 'ok' }] },
  )
  const recorder = new TurnRecorder({ log, runId: 'run', turnId: 'turn', agentId: 'a' })
  const request = { system: `Be kind. ${WORD}`, tools: [{ name: 't', description: WORD }] }
  await recorder.record({ type: 'step-start', stepIndex: 0, meta: { request } })
  await recorder.record({ type: 'reasoning-delta', text: `I think of ${WORD}` })
  await recorder.record({ type: 'text-delta', text: `This is ${WORD}` })
  await recorder.record({ type: 'tool-call', toolCallId: 'c', toolName: 'ask_user', args: { question: WORD } })
  await log.commit(
    [
      {
        type: 'wait.opened',
        wait: {
          id: 'question',
          kind: 'question',
          subject: { toolName: 'ask_user', args: { question: WORD } },
          description: WORD,
          payload: { options: [WORD] },
          preconditions: { file: WORD },
        },
      },
      {
        type: 'wait.opened',
        wait: { id: 'plan', kind: 'plan', subject: {}, description: WORD, payload: { plan: long } },
      },
      { type: 'queue.added', item: { id: 'steer', lane: 'steer', parts: [{ id: '0', type: 'text', text: WORD }] } },
      {
        type: 'queue.added',
        item: {
          id: 'later',
          lane: 'follow-up',
          parts: [{ id: '0', type: 'text', text: `Then ${WORD}` }],
          requestContext: { who: WORD },
          turn: { instructions: WORD },
        },
      },
      { type: 'tasks.changed', tasks: [task('1', WORD)] },
      {
        type: 'message.added',
        messageId: 'signal',
        role: 'user',
        parts: [{ id: '0', type: 'signal', kind: 'system_reminder', text: WORD, data: { words: WORD } }],
      },
      {
        type: 'message.added',
        messageId: 'file',
        role: 'user',
        parts: [{ id: '0', type: 'file', mimeType: 'text/plain', data: btoa(WORD), fileName: `${WORD}.txt` }],
      },
      { type: 'config.changed', title: WORD, goal: goal(0, WORD), state: { draft: WORD } },
      { type: 'checkpoint.made', checkpointId: 'checkpoint', ref: { words: WORD } },
      { type: 'note', kind: 'info', text: WORD, data: { words: WORD } },
    ],
    { run: 'run' },
  )
  await log.commit([
    { type: 'wait.answered', waitId: 'question', answer: { decision: 'answer', value: WORD, reason: WORD } },
    { type: 'wait.cancelled', waitId: 'plan', reason: 'abort' },
  ])
  await recorder.record({ type: 'tool-progress', toolCallId: 'c', toolName: 'ask_user', output: WORD })
  await recorder.record({ type: 'tool-result', toolCallId: 'c', toolName: 'ask_user', result: long })
  await recorder.record({ type: 'error', error: { name: 'Error', message: WORD } })
  await recorder.record({ type: 'step-finish', stepIndex: 0, finishReason: 'stop' })
  await inboxOf(store, log).put({
    id: 'n',
    threadId: log.stream,
    source: 'mail',
    kind: 'letter',
    summary: WORD,
    payload: { words: WORD },
    priority: 'low',
    status: 'pending',
    coalescedCount: 1,
    createdAt: 1,
    updatedAt: 1,
  })
  await recorder.finish(false, (outcome) => [{ type: 'run.ended', runId: 'run', outcome }])
  await spoolRun(spool, log.stream, 'run')
  return { from, to: log.state.head.seq }
}

/** What our own machinery writes down again afterwards, outside the range. */
async function sayAgain(store: Store, log: ThreadLog, spool: SpoolFolder): Promise<void> {
  const origin = { run: 'run' }
  const { ref, blob } = blobOf(Buffer.from(`They spoke of ${WORD}.`), 'text/plain')
  await log.commit([{ type: 'queue.removed', itemId: 'steer', reason: 'heard' }, text('heard', WORD)])
  await log.commit([{ type: 'tasks.changed', tasks: [task('1', WORD), task('2', 'Something else')] }])
  await log.commit([{ type: 'config.changed', title: `${WORD}…` }], origin)
  await log.commit([{ type: 'config.changed', goal: goal(1, WORD) }])
  await log.commit([scoreNote({ name: 'truth', value: 1, reason: WORD, source: 'judge' })], origin)
  await log.commit([feedbackNote({ text: WORD, source: 'user' })], origin)
  await inboxOf(store, log).setStatus('n', 'seen', 2)
  await log.commit(
    [
      {
        type: 'om.committed',
        om: { generation: 1, coversTo: log.state.head.seq, blob: ref.blob },
        replaces: 0,
      },
    ],
    {},
    { blobs: [blob] },
  )
  await log.commit([
    { type: 'run.started', runId: 'next', agentId: 'a', rules: NO_RULES },
    { type: 'run.ended', runId: 'next', outcome: 'complete' },
  ])
  await spoolRun(spool, log.stream, 'next')
}

function inboxOf(store: Store, log: ThreadLog): Inbox {
  const runtime = {
    get state() {
      return log.state
    },
    record: async (facts: readonly RecordBody[]) => void (await log.commit(facts)),
    submit: () => Promise.reject(new Error('Nothing is submitted here.')),
  }
  return new Inbox(threadPort(runtime, store, () => 'a'))
}

async function spoolRun(spool: SpoolFolder, threadId: string, runId: string): Promise<void> {
  const opened = await openSpool({ dir: spool.dirOf({ threadId, runId, turnId: 't' }) })
  opened.note({ said: WORD })
  await opened.close()
}

/** Every place in which the word is still to be found. */
async function placesOf(directory: string, store: Store, logs: readonly ThreadLog[]): Promise<string[]> {
  const places: string[] = []
  const look = (place: string, value: unknown): void => {
    const shown = value instanceof Uint8Array ? Buffer.from(value).toString('latin1') : (JSON.stringify(value) ?? '')
    if (shown.includes(WORD) || shown.includes(btoa(WORD).slice(0, -4))) places.push(place)
  }
  for (const log of logs) {
    const { stream } = log
    look(`${stream} in memory`, [log.state, log.committed])
    look(`${stream} head`, await store.readHead(stream, REDUCER_VERSION))
    for await (const record of recordsAfter(store, stream, 0))
      look(`${stream} ${record.seq} ${record.body.type}`, record)
    look(
      `${stream} messages`,
      await store.listMessages([{ stream, from: 1, to: null }], { order: 'oldest', limit: 1000 }),
    )
    look(`${stream} waits`, await store.listWaits({ stream, limit: 1000 }))
    for (const state of ['accepted', 'done'] as const) {
      look(`${stream} commands`, await store.listCommands({ target: stream, state, limit: 1000 }))
    }
  }
  look('threads', await store.listThreads({ includeHidden: true, limit: 1000 }))
  for (const hash of HASHES) look(`blob ${hash}`, (await store.readBlob(hash))?.bytes ?? null)
  for (const entry of await readdir(directory, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue
    look(`file ${entry.name}`, await readFile(join(entry.parentPath, entry.name)))
    if (entry.name !== 'data.db') continue
    const db = new DatabaseSync(join(entry.parentPath, entry.name), { readOnly: true })
    for (const { name } of db.prepare(`SELECT name FROM sqlite_master WHERE type = 'table'`).all()) {
      for (const row of db.prepare(`SELECT * FROM "${String(name)}"`).all()) {
        for (const [column, value] of Object.entries(row)) look(`table ${String(name)}.${column}`, value)
      }
    }
    db.close()
  }
  return places
}

/** The blobs that were ever referred to. */
const HASHES = new Set<string>()

async function noteHashes(store: Store, logs: readonly ThreadLog[]): Promise<void> {
  for (const { stream } of logs) {
    for await (const record of recordsAfter(store, stream, 0)) {
      for (const [hash] of JSON.stringify(record).matchAll(/\b[0-9a-f]{64}\b/g)) HASHES.add(hash)
    }
  }
}

/** What the records of a thread fold to, and what its views and its log say. */
async function assertFolds(store: Store, log: ThreadLog): Promise<void> {
  const rows = new Map<string, StoredMessage>()
  const gone: { from: number; to: number }[] = []
  let state = emptyState(log.stream)
  for await (const record of recordsAfter(store, log.stream, 0)) {
    const reduced = reduce(state, record)
    state = reduced.state
    for (const message of reduced.written) rows.set(message.id, storedMessage(message))
    if (record.body.type === 'erased') gone.push(record.body)
  }
  assert.deepEqual(plain(log.state.head), plain(state.head))
  const left = [...rows.values()].filter(({ order }) => !gone.some(({ from, to }) => order >= from && order <= to))
  const view = await store.listMessages([{ stream: log.stream, from: 1, to: null }], { order: 'oldest', limit: 1000 })
  assert.deepEqual(plain(view.items), plain(left))
}

function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value))
}

const stores: { readonly [name: string]: (directory: string) => Promise<Store> } = {
  memory: async () => new MemoryStore(),
  SQLite: (directory) => SqliteStore.open({ url: join(directory, 'data.db') }),
}

/** A thread in which it was said everywhere, and repeated. */
async function spoken(
  directory: string,
  store: Store,
): Promise<{ thread: TestThread; spool: SpoolFolder; from: number; to: number }> {
  const thread = await openTestThread(store)
  const spool = new SpoolFolder(join(directory, 'spools'))
  await thread.log.commit([
    text('before', 'Hello'),
    { type: 'tasks.changed', tasks: [task('0', 'An old task')] },
    { type: 'config.changed', state: { theme: 'dark' }, settings: { effort: 'high' }, rules: NO_RULES },
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
        assert.deepEqual(head.state, { theme: 'dark' })
        assert.deepEqual(head.settings, { effort: 'high' })
        const { items } = await store.listMessages(head.lineage, { order: 'oldest' })
        assert.deepEqual(
          items.map(({ id }) => id),
          ['before'],
        )
      }),
    )

    test(
      'after a rewind that carried the tasks along',
      inTempDir(async (directory) => {
        const { thread, spool, from, to } = await spoken(directory, await open(directory))
        await using opened = thread
        const { store, log } = opened
        await log.commit([text('after', 'Something else')])
        await rewindThread(store, log, to)
        await log.commit([text('later', 'And on')])
        await rewindThread(store, log, to)
        assert.equal(log.state.head.tasks[0]?.content, WORD)
        await noteHashes(store, [log])
        await eraseRange(store, log, { from, to, spool })
        assert.deepEqual(await placesOf(directory, store, [log]), [])
        assert.deepEqual(log.state.head.tasks, [])
        await assertFolds(store, log)
        // Going back and forth brings nothing of it back.
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
        await forkThread(store, owner, log.state, { id: 'early', resourceId: 'test', at: 1, title: 'Early' })
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
          { type: 'run.ended', runId: 'in-fork', outcome: 'complete' },
        ])
        await spoolRun(spool, 'fork', 'in-fork')
        await rewindThread(store, fork, fork.state.head.seq)
        await forkThread(store, owner, fork.state, { id: 'of-fork', resourceId: 'test', at: fork.state.head.seq })
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
          assert.equal(again.state.head.bindings['codex']?.stale, 'erased')
          assert.deepEqual(again.state.head.tasks, [])
          assert.equal((await store.getThread(stream))?.title, null)
        }
        assert.equal((await store.getThread('early'))?.title, 'Early')
        assert.deepEqual(
          (await store.listMessages(forks[0]?.state.head.lineage ?? [], { order: 'oldest' })).items.map(({ id }) => id),
          ['before', 'after', 'of-fork'],
        )
        assert.deepEqual(await placesOf(directory, store, [log, ...forks]), [])
      }),
    )

    test(
      'in a fork, while its parent goes on and still has what is its own',
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
  test('of a message that had been waiting in the queue takes it out there, and the other way round', async () => {
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

  test('of an answer takes along what the run gave as data', async () => {
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
