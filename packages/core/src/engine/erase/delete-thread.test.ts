import assert from 'node:assert/strict'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { suite, test } from 'node:test'
import { NO_RULES } from '@inspan/protocol'
import type { RawSpool } from '@inspan/protocol/driver'
import type { RecordBody } from '@inspan/protocol/log'
import type { Store } from '@inspan/protocol/store'
import { SpoolFolder } from '@inspan/shell/run'
import { MemoryStore, SqliteStore } from '@inspan/stores'
import { filesHolding } from '../../../test/stores/files.ts'
import { inTempDir } from '../../../test/stores/temp-dir.ts'
import { deleteThread } from './delete-thread.ts'
import { spoolRun, text, WORD } from './erase-everywhere.fixture.ts'
import { ProcessOwner } from '../threads/ownership.ts'
import { openTestThread } from '../thread.fixture.ts'
import { ThreadLog } from '../log/thread-log.ts'
import { forkThread } from '../threads/threads.ts'

const ASKED: RecordBody = {
  type: 'wait.opened',
  wait: { id: 'w', kind: 'approval', subject: {}, description: WORD },
}

const stores: { readonly [name: string]: (directory: string) => Promise<Store> } = {
  memory: async () => new MemoryStore(),
  SQLite: (directory) => SqliteStore.open({ url: join(directory, 'data.db') }),
}

for (const [name, open] of Object.entries(stores)) {
  suite(`deleting a thread (${name})`, () => {
    test(
      'ends its run, cancels its waits and takes its raw output along, also where a process died over it',
      inTempDir(async (directory) => {
        const store = await open(directory)
        await using thread = await openTestThread(store)
        const { log, owner } = thread
        const spool = new SpoolFolder(join(directory, 'spools'))
        await log.commit([text('m', 'shared')])
        await forkThread(store, owner, log.state, { id: 'fork', resourceId: 'test', at: 1 })
        await log.commit([
          { type: 'binding.changed', binding: { agentId: 'codex', nativeId: 'native', syncedTo: 1 } },
          { type: 'run.started', runId: 'run', agentId: 'a', rules: NO_RULES },
          ASKED,
        ])
        await spoolRun(spool, 'thread', 'run')
        await spoolRun(spool, 'fork', 'other')
        const seen: string[] = []
        const appended = store.append.bind(store)
        store.append = (append) => {
          for (const { body } of append.records) {
            seen.push(body.type === 'wait.cancelled' ? `${body.type} ${body.reason}` : body.type)
          }
          return appended(append)
        }

        const report = await deleteThread(store, owner, 'thread', { spool })

        assert.deepEqual(seen, ['wait.cancelled delete', 'run.ended'])
        assert.deepEqual(report, {
          deleted: true,
          retained: [{ stream: 'thread', from: 1, to: 1, neededBy: ['fork'] }],
          remains: [{ kind: 'native-session', agentId: 'codex', nativeId: 'native' }],
        })
        assert.equal(await store.getThread('thread'), null)
        assert.deepEqual((await store.listWaits({})).items, [])
        assert.deepEqual(await readdir(spool.root), ['fork'])
        assert.deepEqual(await filesHolding(join(directory), WORD).catch(() => []), [])
        const fork = await ThreadLog.open({ store, stream: 'fork', fence: await owner.claim('fork') })
        const { items } = await store.listMessages(fork.state.head.lineage, { order: 'oldest' })
        assert.deepEqual(
          items.map(({ id }) => id),
          ['m'],
        )
        await fork.close()
        // What was kept for forks goes with the last of them.
        assert.deepEqual((await deleteThread(store, owner, 'fork', { spool })).retained, [])
        await assert.rejects(store.readLineage([{ stream: 'thread', from: 1, to: 1 }], {}), { code: 'not-found' })
        assert.deepEqual(await readdir(spool.root), [])
      }),
    )
  })
}

suite('a deletion', () => {
  test('is refused while the thread is open here, or held by another process that lives', async () => {
    await using thread = await openTestThread(new MemoryStore())
    const { owner, store } = thread
    owner.enter('thread')
    await assert.rejects(deleteThread(store, owner, 'thread'), { code: 'held' })
    owner.leave('thread')
    const other = await ProcessOwner.register(store)
    await assert.rejects(deleteThread(store, other, 'thread'), { code: 'held' })
    assert.notEqual(await store.getThread('thread'), null)
    await other.close()
    assert.equal((await deleteThread(store, owner, 'thread')).deleted, true)
  })

  test('reports when raw output could not be removed', async () => {
    await using thread = await openTestThread(new MemoryStore())
    const fail = (): Promise<never> => Promise.reject(new Error('the disk is read-only'))
    const spool: RawSpool = { remove: fail, removeThread: fail }
    const { remains } = await deleteThread(thread.store, thread.owner, 'thread', { spool })
    assert.deepEqual(remains, [{ kind: 'raw', reason: 'the disk is read-only' }])
  })

  test(
    'works for a thread that cannot be read any more',
    inTempDir(async (directory) => {
      const url = join(directory, 'data.db')
      await using thread = await openTestThread(await SqliteStore.open({ url }))
      await thread.log.commit([text('m', 'words')])
      const db = new DatabaseSync(url)
      db.exec(`UPDATE records SET body = '{'`)
      db.exec('DELETE FROM heads')
      db.close()
      await assert.rejects(thread.reopen(), { code: 'corrupt' })
      assert.equal((await deleteThread(thread.store, thread.owner, 'thread')).deleted, true)
    }),
  )
})
