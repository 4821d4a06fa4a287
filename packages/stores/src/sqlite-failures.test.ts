import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { chmod, mkdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, it } from 'node:test'
import { InspanError } from '@inspan/protocol'
import { emptyHead, storedHead } from '@inspan/protocol/log'
import type { Fence, Store } from '@inspan/protocol/store'
import { filesIn } from '../test/files.ts'
import { StoreProcess } from '../test/store-process.ts'
import { inTempDir } from '../test/temp-dir.ts'
import { messageOf, noteOf, saidOf, startThread } from '../test/threads.ts'
import { SqliteStore } from './sqlite-store.ts'

const NOBODY = 65_534
/** Root may write everywhere, so as root the test runs as another user. */
const asNobody = process.getuid?.() === 0 ? { uid: NOBODY } : {}

/** Appends until it fails; returns the error and the last seq that was acknowledged. */
async function fillUp(append: Store['append'], fence: Fence): Promise<{ error: unknown; last: number }> {
  for (let last = 0; last < 100_000; last++) {
    try {
      await append({ stream: 't', fence, records: [noteOf('t', last + 1, 'x'.repeat(2000))] })
    } catch (error) {
      return { error, last }
    }
  }
  throw new Error('There is no limit.')
}

describe('when the disk fails an SQLite store', () => {
  it(
    'a full disk is an error of its own, nothing is half written, and with room it continues',
    inTempDir(async (directory) => {
      const url = join(directory, 'data.db')
      const store = await SqliteStore.open({ url, maxBytes: 600_000 })
      const fence = await startThread(store, 't')
      const { error, last } = await fillUp((request) => store.append(request), fence)
      assert.ok(InspanError.is(error, 'disk-full'), String(error))
      assert.match(error.hint ?? '', /space/)
      assert.equal((await store.getStream('t'))?.headSeq, last)
      assert.equal((await store.readRecords('t', { after: last - 1 })).items.length, 1)
      await store.close()

      const roomy = await SqliteStore.open({ url })
      assert.equal(await roomy.append({ stream: 't', fence, records: [noteOf('t', last + 1)] }), last + 1)
      assert.deepEqual(await roomy.check(), [])
      await roomy.close()
    }),
  )

  it(
    'a store for which there is no room at all leaves no file behind',
    inTempDir(async (directory) => {
      await assert.rejects(SqliteStore.open({ url: join(directory, 'data.db'), maxBytes: 8192 }), (error) =>
        InspanError.is(error, 'disk-full'),
      )
      assert.equal((await filesIn(directory)).size, 0)
    }),
  )

  it(
    'a write that the system refuses is reported and leaves the store as it was',
    inTempDir(async (directory) => {
      const url = join(directory, 'data.db')
      const limited = await StoreProcess.start(url, { fileBlocks: 2000 })
      try {
        const info = { id: 't', resourceId: 'r', title: null, createdAt: 1, updatedAt: 1, hidden: false, metadata: {} }
        const start = { owner: 'me', records: [] }
        await limited.call('createStream', { kind: 'thread', info, headSeq: 0, start })
        const fence = { owner: 'me', epoch: 1 }
        const { error, last } = await fillUp((request) => limited.call('append', request), fence)
        assert.ok(InspanError.is(error, 'io') || InspanError.is(error, 'disk-full'), String(error))
        assert.equal((await limited.call('getStream', 't'))?.headSeq, last)
        const unlimited = await SqliteStore.open({ url })
        assert.equal((await unlimited.getStream('t'))?.headSeq, last)
        assert.equal(await unlimited.append({ stream: 't', fence, records: [noteOf('t', last + 1)] }), last + 1)
        await unlimited.close()
      } finally {
        await limited.kill()
      }
    }),
  )

  it(
    'a file or directory that may not be written is named, with what to do about it',
    inTempDir(async (directory) => {
      await chmod(directory, 0o777)
      const places = { file: join(directory, 'file'), folder: join(directory, 'folder') }
      for (const place of Object.values(places)) {
        await mkdir(place)
        const store = await SqliteStore.open({ url: join(place, 'data.db') })
        await store.close()
      }
      await chmod(join(places.file, 'data.db'), 0o444)
      await chmod(places.file, 0o777)
      await chmod(join(places.folder, 'data.db'), 0o666)
      await chmod(places.folder, 0o555)
      const urls = [join(places.file, 'data.db'), join(places.folder, 'data.db'), join(places.folder, 'new.db')]
      for (const url of urls) {
        const other = await StoreProcess.start(url, asNobody)
        const before = await filesIn(dirname(url))
        try {
          await assert.rejects(other.call('open'), (error) => {
            assert.ok(InspanError.is(error, 'read-only'), String(error))
            assert.match(error.message, /writable/)
            return true
          })
          assert.deepEqual(await filesIn(dirname(url)), before, 'it was touched')
        } finally {
          await other.kill()
        }
      }
      await chmod(places.folder, 0o777)
    }),
  )

  if (existsSync('/proc/self')) {
    it('a directory in which nothing can be made is read-only', async () => {
      await assert.rejects(SqliteStore.open({ url: '/proc/inspan.db' }), (error) => InspanError.is(error, 'read-only'))
    })
  }

  it(
    'a lock that is never given back is an error after the time that was allowed',
    inTempDir(async (directory) => {
      const url = join(directory, 'data.db')
      const store = await SqliteStore.open({ url, busyTimeoutMs: 20 })
      const fence = await startThread(store, 't')
      const other = new DatabaseSync(url)
      other.exec('BEGIN IMMEDIATE')
      await assert.rejects(store.append({ stream: 't', fence, records: [noteOf('t', 1)] }), (error) => {
        assert.ok(InspanError.is(error, 'io'), String(error))
        assert.match(error.message, /busyTimeoutMs/)
        return true
      })
      other.exec('ROLLBACK')
      other.close()
      assert.equal(await store.append({ stream: 't', fence, records: [noteOf('t', 1)] }), 1)
      await store.close()
    }),
  )
})

describe('when the rows of one thread are damaged', () => {
  it(
    'the others open as usual, the list names it, and reading it reports what is wrong',
    inTempDir(async (directory) => {
      const url = join(directory, 'data.db')
      const healthy = await SqliteStore.open({ url })
      for (const id of ['good', 'bad']) {
        const fence = await startThread(healthy, id, [
          saidOf(id, 1, 'one'),
          saidOf(id, 2, 'two'),
          saidOf(id, 3, 'three'),
        ])
        await healthy.append({
          stream: id,
          fence,
          records: [],
          messages: [messageOf(id, 1, 'one'), messageOf(id, 2, 'two'), messageOf(id, 3, 'three')],
          head: { head: storedHead(emptyHead(id)), reducerVersion: 1 },
        })
      }
      await healthy.close()
      const database = new DatabaseSync(url)
      const no = "(SELECT no FROM streams WHERE id = 'bad')"
      database.exec(`
        UPDATE threads SET metadata = '{"cut', title = '' WHERE no = ${no};
        UPDATE records SET body = 'x' WHERE key = (${no} << 32) | 2;
        UPDATE messages SET json = x'00ff' WHERE key = (${no} << 32) | 2;
        UPDATE heads SET json = '{' WHERE no = ${no};`)
      database.close()

      const store = await SqliteStore.open({ url })
      const lineage = (stream: string): { stream: string; from: number; to: null }[] => [{ stream, from: 1, to: null }]
      assert.equal((await store.readRecords('good', {})).items.length, 3)
      assert.equal((await store.listMessages(lineage('good'), { order: 'newest' })).items.length, 3)
      assert.deepEqual(await store.readHead('good', 1), storedHead(emptyHead('good')))

      const { items } = await store.listThreads({})
      assert.deepEqual(
        items.map((thread) => [thread.id, thread.damaged ?? null]),
        [
          ['bad', 'The title and the metadata cannot be read.'],
          ['good', null],
        ],
      )
      const isCorrupt = (error: unknown): boolean => {
        assert.ok(InspanError.is(error, 'corrupt'), String(error))
        assert.equal(error.details['stream'], 'bad')
        return true
      }
      await assert.rejects(store.getThread('bad'), isCorrupt)
      await assert.rejects(store.readRecords('bad', {}), isCorrupt)
      await assert.rejects(store.listMessages(lineage('bad'), { order: 'newest' }), isCorrupt)
      assert.equal((await store.readRecords('bad', { upTo: 1 })).items.length, 1)
      assert.equal((await store.readRecords('bad', { after: 2 })).items.length, 1)
      // A head is a cache, and is simply rebuilt.
      assert.equal(await store.readHead('bad', 1), null)
      assert.equal((await store.deleteThread('bad', { owner: 'me', epoch: 1 })).deleted, true)
      await store.close()
    }),
  )
})
