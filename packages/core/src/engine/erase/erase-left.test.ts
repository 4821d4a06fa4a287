import assert from 'node:assert/strict'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import type { TaskItem } from '@inspan/protocol'
import type { RecordBody } from '@inspan/protocol/log'
import type { Store } from '@inspan/protocol/store'
import { MemoryStore, SqliteStore } from '@inspan/stores'
import { filesHolding } from '../../../test/stores/files.ts'
import { inTempDir } from '../../../test/stores/temp-dir.ts'
import { clearHistory, eraseRange } from './erase.ts'
import { recordsLeft } from './shared-stretches.ts'
import { openTestThread, type TestThread } from '../thread.fixture.ts'
import { ThreadLog } from '../log/thread-log.ts'
import { forkThread } from '../threads/threads.ts'

const SECRET = 'correct-horse-battery-staple'

const stores: { readonly [name: string]: (directory: string) => Promise<Store> } = {
  memory: async () => new MemoryStore(),
  SQLite: (directory) => SqliteStore.open({ url: join(directory, 'data.db') }),
}

function said(messageId: string, text: string): RecordBody {
  return { type: 'message.added', messageId, role: 'user', parts: [{ id: '0', type: 'text', text }] }
}

function tasks(...contents: string[]): RecordBody {
  const items = contents.map((content): TaskItem => ({ id: content, content, status: 'pending', activeForm: content }))
  return { type: 'tasks.changed', tasks: items }
}

async function forkOf({ store, owner }: TestThread, parent: ThreadLog, id: string): Promise<ThreadLog> {
  await forkThread(store, owner, parent.state, { id, resourceId: 'test', at: parent.state.head.seq })
  return ThreadLog.open({ store, stream: id, fence: await owner.claim(id) })
}

async function shownIn(store: Store, log: ThreadLog): Promise<string[]> {
  const { items } = await store.listMessages(log.state.head.lineage, { order: 'oldest' })
  return items.map(({ id }) => id)
}

/** Returns the streams and files that still contain the secret. */
async function holding(directory: string, store: Store, streams: readonly string[]): Promise<string[]> {
  const found: string[] = []
  for (const stream of streams) {
    if (JSON.stringify(await Array.fromAsync(recordsLeft(store, stream, 0))).includes(SECRET)) found.push(stream)
  }
  return [...found, ...(await filesHolding(directory, SECRET))]
}

for (const [name, open] of Object.entries(stores)) {
  suite(`what a deleted thread has left (${name})`, () => {
    test(
      'is erased by a fork of it, there and in the other forks',
      inTempDir(async (directory) => {
        await using thread = await openTestThread(await open(directory))
        const { store, log, owner } = thread
        await log.commit([said('before', 'Hello'), said('secret', SECRET), tasks(SECRET), said('after', 'Well')])
        const fork = await forkOf(thread, log, 'fork')
        const other = await forkOf(thread, log, 'other')
        await other.close()
        await owner.release('other', other.fence)
        assert.equal(fork.state.head.tasks.length, 1)
        await assert.rejects(eraseRange(store, fork, { from: 2, to: 3, owner }), {
          code: 'invalid-input',
          details: { parent: 'thread', first: 5 },
        })
        await store.deleteThread('thread', log.fence)

        const report = await eraseRange(store, fork, { from: 2, to: 3, owner, reason: 'asked for' })

        assert.deepEqual([report.from, report.to, report.forks, report.remains], [2, 3, ['other'], []])
        assert.deepEqual(await shownIn(store, fork), ['before', 'after'])
        assert.deepEqual(fork.state.head.tasks, [])
        const last = await store.latestRecord(fork.state.head.lineage, 'erased', fork.state.head.seq)
        assert.equal(last?.stream, 'fork')
        const again = await ThreadLog.open({ store, stream: 'other', fence: await owner.claim('other') })
        assert.deepEqual(await shownIn(store, again), ['before', 'after'])
        assert.deepEqual(again.state.head.tasks, [])
        assert.deepEqual(await holding(directory, store, ['thread', 'fork', 'other']), [])
      }),
    )

    test(
      'goes with the history of the last fork, and nothing remains with a parent',
      inTempDir(async (directory) => {
        await using thread = await openTestThread(await open(directory))
        const { store, log, owner } = thread
        await log.commit([said('secret', SECRET)])
        const fork = await forkOf(thread, log, 'fork')
        await fork.commit([said('own', SECRET)])
        const living = await clearHistory(store, fork, { owner })
        assert.deepEqual(living.remains, [{ kind: 'parent', threadId: 'thread', to: 1 }])
        await store.deleteThread('thread', log.fence)

        const report = await clearHistory(store, fork, { owner })

        assert.deepEqual([report.from, report.remains], [1, []])
        assert.deepEqual(await shownIn(store, fork), [])
        assert.deepEqual(await holding(directory, store, ['thread', 'fork']), [])
      }),
    )

    test(
      'is erased over several of them, and where one repeats another; a living one keeps what is its own',
      inTempDir(async (directory) => {
        await using thread = await openTestThread(await open(directory))
        const { store, log, owner } = thread
        await log.commit([said('first', 'Hello'), tasks(SECRET), said('end', 'Well')])
        const middle = await forkOf(thread, log, 'middle')
        await middle.commit([tasks(SECRET, 'Another'), said('middle', SECRET)])
        const fork = await forkOf(thread, middle, 'fork')
        await fork.commit([said('own', 'Mine')])
        await store.deleteThread('middle', middle.fence)
        await assert.rejects(eraseRange(store, fork, { from: 3, to: 5, owner }), {
          details: { parent: 'thread', first: 4 },
        })

        // Erased by the living thread: copies in the deleted thread between are erased too.
        const first = await eraseRange(store, log, {
          from: 2,
          to: 2,
          owner,
          open: () => ({ change: (task) => task(fork) }),
        })
        assert.deepEqual(first.forks, ['fork'])
        assert.deepEqual(first.remains, [{ kind: 'messages', threadId: 'fork', messageIds: ['middle'] }])
        await store.deleteThread('thread', log.fence)
        const report = await eraseRange(store, fork, { from: 3, to: fork.state.head.seq, owner })
        assert.deepEqual([report.from, report.remains], [3, []])
        assert.deepEqual(await shownIn(store, fork), ['first'])
        assert.deepEqual(await holding(directory, store, ['thread', 'middle', 'fork']), [])
      }),
    )
  })
}
