import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { suite, test } from 'node:test'
import { REDUCER_VERSION, storedHead, type StoredHead } from '@inspan/protocol/log'
import { SqliteStore } from '@inspan/stores'
import { inTempDir } from '../../../test/stores/temp-dir.ts'
import { readThread } from '../threads/read-thread.ts'
import { ProcessOwner } from '../threads/ownership.ts'
import { ThreadLog } from './thread-log.ts'
import { createThread } from '../threads/threads.ts'

const GOAL = {
  objective: 'Be read by later releases',
  status: 'active',
  runsUsed: 0,
  startedAt: 1,
  updatedAt: 1,
} as const

async function openLog(store: SqliteStore, owner: ProcessOwner, stream: string): Promise<ThreadLog> {
  return ThreadLog.open({ store, stream, fence: await owner.claim(stream) })
}

/** Makes two threads whose stored heads are as the given version of the reducer would have stored them. */
async function withHeadsOf(version: number, change: (head: StoredHead) => object, url: string): Promise<void> {
  const store = await SqliteStore.open({ url })
  const owner = await ProcessOwner.register(store)
  for (const id of ['a', 'b']) {
    await createThread(store, { id, resourceId: 'test' })
    const log = await openLog(store, owner, id)
    await log.commit([
      { type: 'config.changed', title: 'Title', goal: GOAL, state: { draft: 'text' } },
      { type: 'run.started', runId: 'r', agentId: 'a', rules: { categories: {}, tools: {}, patterns: [] } },
      { type: 'run.ended', runId: 'r', outcome: 'complete', output: { ok: true } },
    ])
    await log.close()
  }
  await owner.close()
  await store.close()
  const db = new DatabaseSync(url)
  for (const { no, json } of db.prepare('SELECT no, json FROM heads').all()) {
    const head = change(JSON.parse(String(json)) as StoredHead)
    db.prepare('UPDATE heads SET version = ?, json = ? WHERE no = ?').run(version, JSON.stringify(head), no ?? null)
  }
  db.close()
}

function versionsIn(url: string): Record<string, unknown> {
  const db = new DatabaseSync(url, { readOnly: true })
  const rows = db.prepare('SELECT id, version FROM heads JOIN streams USING (no) ORDER BY id').all()
  db.close()
  return Object.fromEntries(rows.map(({ id, version }) => [String(id), version]))
}

/** Returns a head from before it knew which records had set what, with other wrong values. */
function oldHead({
  titleAt: _title,
  goalAt: _goal,
  stateAt: _state,
  settingsAt: _settings,
  ...head
}: StoredHead): object {
  return { ...head, title: 'As the old reducer had it', goal: null }
}

suite('a stored head of an older reducer', () => {
  test(
    'is made anew when its thread is opened, and not before',
    inTempDir(async (directory) => {
      const url = join(directory, 'data.db')
      const old = REDUCER_VERSION - 1
      await withHeadsOf(old, oldHead, url)
      const store = await SqliteStore.open({ url })
      const owner = await ProcessOwner.register(store)
      assert.deepEqual(versionsIn(url), { a: old, b: old })
      // Reads do not write.
      assert.equal((await readThread(store, 'a')).head.title, 'Title')
      assert.deepEqual(versionsIn(url), { a: old, b: old })
      const { head } = (await openLog(store, owner, 'a')).state
      assert.deepEqual([head.title, head.titleAt, head.goal, head.goalAt], ['Title', 1, GOAL, 1])
      assert.deepEqual(
        [head.state.toJSON(), head.stateAt.toJSON(), head.settingsAt.size],
        [{ draft: 'text' }, { draft: 1 }, 0],
      )
      assert.deepEqual(head.lastRun?.output, { ok: true })
      assert.deepEqual(versionsIn(url), { a: REDUCER_VERSION, b: old })
      assert.deepEqual(await store.readHead('a', REDUCER_VERSION), storedHead(head))
      await owner.close()
      await store.close()
    }),
  )

  test(
    'a head of the present reducer is used as it is',
    inTempDir(async (directory) => {
      const url = join(directory, 'data.db')
      await withHeadsOf(REDUCER_VERSION, (head) => ({ ...head, title: 'As it was stored' }), url)
      const store = await SqliteStore.open({ url })
      const owner = await ProcessOwner.register(store)
      assert.equal((await openLog(store, owner, 'a')).state.head.title, 'As it was stored')
      await owner.close()
      await store.close()
    }),
  )
})
