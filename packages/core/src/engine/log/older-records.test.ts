import assert from 'node:assert/strict'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { InspanError, NO_RULES, type JsonObject } from '@inspan/protocol'
import {
  agentEventsOf,
  RECORD_VERSIONS,
  REDUCER_VERSION,
  rootLineage,
  type LogRecord,
  type RecordBody,
} from '@inspan/protocol/log'
import { RECORD_FORMAT, type RecordFormat, type Store } from '@inspan/protocol/store'
import { MemoryStore, SqliteStore } from '@inspan/stores'
import { inTempDir } from '../../../test/stores/temp-dir.ts'
import { assertFolds } from '../erase/erase-everywhere.fixture.ts'
import { recordsAfter } from './load-state.ts'
import { ProcessOwner } from '../threads/ownership.ts'
import { openTestThread, type TestThread } from '../thread.fixture.ts'
import { ThreadLog } from './thread-log.ts'
import { ThreadRuntime } from '../thread-runtime.ts'
import { createThread, forkThread } from '../threads/threads.ts'

/**
 * A format as if these types had older versions: a message was `{ who, words }` in version 1 and had no parts in
 * version 2, a text delta was a `chunk`, and opening a wait was called asking a question.
 */
const FORMAT: RecordFormat = {
  versions: { ...RECORD_VERSIONS, 'message.added': 3, batch: 2, 'wait.opened': 2 },
  upcasters: {
    ...RECORD_FORMAT.upcasters,
    'message.added': [
      ({ who = '', ...rest }) => ({ ...rest, role: who }),
      ({ words = '', ...rest }) => ({ ...rest, parts: [{ id: '0', type: 'text', text: words }] }),
    ],
    batch: [
      ({ event, ...rest }) => {
        const { chunk = '', ...place } = event as JsonObject
        return { ...rest, event: { ...place, text: chunk } }
      },
    ],
    'question.asked': [
      ({ id = '', question = '' }) => ({
        type: 'wait.opened',
        wait: { id, kind: 'question', subject: {}, description: question },
      }),
    ],
  },
  renamed: { 'question.asked': 'wait.opened' },
}

const stores: { readonly [name: string]: (directory: string) => Promise<Store> } = {
  memory: async () => new MemoryStore({ format: FORMAT }),
  SQLite: (directory) => SqliteStore.open({ url: join(directory, 'data.db'), format: FORMAT }),
}

type OldBody = readonly [v: number, body: JsonObject]

const said = (messageId: string, words: string): OldBody => [
  1,
  { type: 'message.added', messageId, who: 'user', words },
]
const saidLater = (messageId: string, words: string): OldBody => [
  2,
  { type: 'message.added', messageId, role: 'user', words },
]
const chunk = (words: string): OldBody => [
  1,
  { type: 'batch', event: { type: 'text-delta', messageId: 'm', partId: '0', chunk: words } },
]
const current = (body: RecordBody): OldBody => [RECORD_VERSIONS[body.type], body as unknown as JsonObject]

/** Writes records as an earlier release left them, without heads and views, which are of another version. */
async function wroteThen({ store, fence }: TestThread, ...bodies: readonly OldBody[]): Promise<void> {
  const head = (await store.getStream('thread'))?.headSeq ?? 0
  const records = bodies.map(([v, body], index): LogRecord => ({
    v,
    stream: 'thread',
    seq: head + 1 + index,
    at: 1000 + index,
    run: 'r',
    body: body as unknown as RecordBody,
  }))
  await store.append({ stream: 'thread', fence, records })
}

for (const [name, open] of Object.entries(stores)) {
  suite(`a thread with records of older versions (${name})`, () => {
    const inThread = (work: (thread: TestThread) => Promise<void>): (() => Promise<void>) =>
      inTempDir(async (directory) => {
        await using thread = await openTestThread(await open(directory))
        await work(thread)
      })

    test(
      'is folded, and its views are made, from what they are lifted to',
      inThread(async (thread) => {
        const { store } = thread
        await wroteThen(thread, said('one', 'Hello'), saidLater('two', 'Still there?'), [
          1,
          { type: 'question.asked', id: 'w', question: 'Which one?' },
        ])
        const lineage = rootLineage('thread')
        const log = await thread.reopen()
        assert.equal(log.state.head.seq, 3)
        const { items } = await store.listMessages(lineage, { order: 'oldest' })
        assert.deepEqual(
          items.map(({ id, role, parts }) => [id, role, parts]),
          [
            ['one', 'user', [{ id: '0', type: 'text', text: 'Hello' }]],
            ['two', 'user', [{ id: '0', type: 'text', text: 'Still there?' }]],
          ],
        )
        assert.equal((await store.getWait('thread', 'w'))?.wait.description, 'Which one?')
        assert.equal((await store.readHead('thread', REDUCER_VERSION))?.seq, 3)
        await assertFolds(store, log)
        // The stored records are unchanged: lifted again, they are the same.
        assert.deepEqual(
          (await Array.fromAsync(recordsAfter(store, 'thread', 0))).map(({ v }) => v),
          [3, 3, 2],
        )
      }),
    )

    test(
      'is folded anew where a release with another reducer has left its head',
      inThread(async (thread) => {
        const { store, fence } = thread
        await wroteThen(thread, said('one', 'Hello'))
        await thread.reopen()
        const head = await store.readHead('thread', REDUCER_VERSION)
        assert.ok(head !== null)
        await store.append({
          stream: 'thread',
          fence,
          records: [],
          messages: [],
          head: { head: { ...head, title: 'not what the records say' }, reducerVersion: REDUCER_VERSION - 1 },
        })
        const log = await thread.reopen()
        assert.equal(log.state.head.title, null)
        await assertFolds(store, log)
      }),
    )

    test(
      'continues in a fork of it, and in a replay',
      inThread(async (thread) => {
        const { store, owner } = thread
        await wroteThen(
          thread,
          said('one', 'Hello'),
          current({ type: 'run.started', runId: 'r', agentId: 'a', rules: NO_RULES }),
          current({ type: 'message.started', messageId: 'm', role: 'assistant' }),
          chunk('Hi'),
        )
        const log = await thread.reopen()
        await forkThread(store, owner, log.state, { id: 'fork', resourceId: 'test', at: 1 })
        const fork = await ThreadLog.open({ store, stream: 'fork', fence: await owner.claim('fork') })
        const { items } = await store.listMessages(fork.state.head.lineage, { order: 'oldest' })
        assert.deepEqual(items[0]?.parts, [{ id: '0', type: 'text', text: 'Hello' }])
        const { items: records } = await store.readLineage(fork.state.head.lineage, {})
        assert.deepEqual(
          records.map(({ stream, v, body }) => [stream, v, body.type]),
          [
            ['thread', 3, 'message.added'],
            ['fork', RECORD_VERSIONS.fork, 'fork'],
          ],
        )
        const events = (await Array.fromAsync(recordsAfter(store, 'thread', 0))).flatMap(agentEventsOf)
        assert.deepEqual(events, [{ type: 'text-delta', messageId: 'm', partId: '0', text: 'Hi' }])
      }),
    )

    test(
      'is recovered by a process of a newer release than the one that died',
      inThread(async (thread) => {
        const { store, owner, fence } = thread
        await wroteThen(
          thread,
          said('one', 'Hello'),
          current({ type: 'run.started', runId: 'r', agentId: 'gone', rules: NO_RULES }),
          current({ type: 'turn.started', turnId: 't', agentId: 'gone' }),
          current({ type: 'message.started', messageId: 'm', role: 'assistant' }),
          chunk('Half a '),
          chunk('word'),
        )
        await owner.release('thread', fence)
        const runtime = await ThreadRuntime.open({ store, owner, thread: 'thread', agents: {} })
        assert.equal(runtime.state.head.run, null)
        const { items } = await store.listMessages(runtime.state.head.lineage, { order: 'newest', limit: 1 })
        const [part] = items[0]?.parts ?? []
        assert.deepEqual([items[0]?.state, part?.type === 'text' && part.text], ['interrupted', 'Half a word'])
        // The sealed part has replaced its batches, whichever release wrote them.
        const records = await Array.fromAsync(recordsAfter(store, 'thread', 0))
        assert.equal(records.find(({ body }) => body.type === 'text-delta')?.first, 5)
        assert.ok(records.every(({ body }) => body.type !== 'batch'))
        await runtime.close()
      }),
    )

    test(
      'that a newer release has written to is not opened, and not touched',
      inThread(async (thread) => {
        const { store, owner, fence } = thread
        await wroteThen(thread, said('one', 'Hello'), [7, { type: 'message.added', spoken: true }])
        await owner.release('thread', fence)
        const before = await store.getStream('thread')
        await assert.rejects(
          ThreadRuntime.open({ store, owner, thread: 'thread', agents: {} }),
          (error) =>
            InspanError.is(error, 'newer-version') &&
            /"message\.added" version 7/.test(error.message) &&
            /Upgrade/.test(error.hint ?? ''),
        )
        const after = await store.getStream('thread')
        assert.deepEqual([after?.headSeq, after?.owner], [before?.headSeq, null])
        assert.deepEqual((await store.listMessages(rootLineage('thread'), { order: 'oldest' })).items, [])
        assert.equal(await store.readHead('thread', REDUCER_VERSION), null)
        assert.equal((await store.readRecords('thread', { upTo: 1 })).items.length, 1)
        // Other threads are not affected.
        await createThread(store, { id: 'other', resourceId: 'test' })
        const other = await ThreadRuntime.open({ store, owner, thread: 'other', agents: {} })
        await other.close()
      }),
    )
  })
}

test('reading an older record writes nothing back: the file stays the same', () =>
  inTempDir(async (directory) => {
    const url = join(directory, 'data.db')
    const writer = await openTestThread(await SqliteStore.open({ url, format: FORMAT }))
    await wroteThen(writer, said('one', 'Hello'))
    await writer[Symbol.asyncDispose]()
    const read = async (format: RecordFormat): Promise<LogRecord[]> => {
      const store = await SqliteStore.open({ url, format })
      const owner = await ProcessOwner.register(store)
      const fence = await owner.claim('thread')
      if (format === FORMAT) await ThreadLog.open({ store, stream: 'thread', fence })
      const records = await Array.fromAsync(recordsAfter(store, 'thread', 0))
      await owner.close()
      await store.close()
      return records
    }
    assert.equal((await read(FORMAT))[0]?.v, 3)
    const then: RecordFormat = { versions: { 'message.added': 1 }, upcasters: {}, renamed: {} }
    assert.deepEqual((await read(then))[0]?.body, said('one', 'Hello')[1])
  })())
