import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { InspanError } from '@inspan/protocol'
import { filesHolding } from '../test/files.ts'
import { inTempDir } from '../test/temp-dir.ts'
import { noteOf, startThread } from '../test/threads.ts'
import { SqliteStore } from './sqlite-store.ts'

describe('a deletion that was cut short', () => {
  it(
    'has hidden the thread, and is finished when the store is opened again',
    inTempDir(async (directory) => {
      const url = join(directory, 'data.db')
      const store = await SqliteStore.open({ url })
      const records = Array.from({ length: 3000 }, (_, index) => noteOf('t', index + 1, 'to be purged'))
      const fence = await startThread(store, 't', records)
      const deletion = store.deleteThread('t', fence)
      await store.close()
      await assert.rejects(deletion, (error) => InspanError.is(error, 'closed'))
      assert.deepEqual(await filesHolding(directory, 'to be purged'), ['data.db'])

      const again = await SqliteStore.open({ url })
      assert.equal(await again.getStream('t'), null)
      assert.deepEqual((await again.listThreads({ includeHidden: true })).items, [])
      await startThread(again, 't')
      await again.close()
      assert.deepEqual(await filesHolding(directory, 'to be purged'), [])
    }),
  )

  it(
    'is finished by one of several stores without harm to a thread that came after it',
    inTempDir(async (directory) => {
      const url = join(directory, 'data.db')
      const one = await SqliteStore.open({ url })
      const two = await SqliteStore.open({ url })
      const records = Array.from({ length: 1200 }, (_, index) => noteOf('old', index + 1))
      const fence = await startThread(one, 'old', records)
      // Both purge in turns; the last one finds the work done and the stream's number reused.
      const deletion = one.deleteThread('old', fence)
      await two.open()
      const young = await startThread(two, 'new', [noteOf('new', 1)])
      await deletion
      await one.open()
      assert.equal((await one.readRecords('new', {})).items.length, 1)
      assert.equal(await two.append({ stream: 'new', fence: young, records: [noteOf('new', 2)] }), 2)
      await one.close()
      await two.close()
    }),
  )
})
