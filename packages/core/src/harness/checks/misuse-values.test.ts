import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { InspanError } from '@inspan/protocol'
import { MemoryStore, SqliteStore } from '@inspan/stores'
import { HarnessBench } from '../harness.fixture.ts'

const isTyped = (error: unknown): boolean =>
  InspanError.is(error, 'invalid-input') ||
  InspanError.is(error, 'not-found') ||
  InspanError.is(error, 'already-exists')

for (const [name, open] of Object.entries({
  memory: () => new MemoryStore(),
  sqlite: () => new SqliteStore({ url: ':memory:' }),
})) {
  suite(`values that are of the right kind and still mean nothing (${name})`, () => {
    test('a page that is asked for as if there were no end is the whole, and one after nothing is refused', async (t) => {
      const storage = open()
      t.after(() => storage.close())
      await using bench = new HarnessBench([{ text: 'Yes.' }], { storage })
      const { harness } = bench
      const { id: threadId } = await harness.createThread()
      await harness.sendMessage({ content: 'Hi' })
      const { thread } = harness.session
      for (const limit of [1_000_000, Number.MAX_SAFE_INTEGER, Number.MAX_VALUE]) {
        assert.equal((await thread.list({ limit })).length, 1)
        assert.equal((await thread.listMessages({ threadId, limit })).length, 2)
        assert.deepEqual([...(await harness.getKnownResourceIds({ limit }))], ['bench'])
      }
      for (const cursor of ['garbage', '__proto__', '-1', '9'.repeat(400), '\0', '{"']) {
        await assert.rejects(thread.list({ cursor }), isTyped, `threads after ${cursor.slice(0, 20)}`)
        await assert.rejects(
          thread.listMessages({ threadId, cursor }),
          isTyped,
          `messages after ${cursor.slice(0, 20)}`,
        )
      }
    })

    test('names that cannot be kept are refused, and those that are strange are kept', async (t) => {
      const storage = open()
      t.after(() => storage.close())
      await using bench = new HarnessBench([], { storage })
      const { harness } = bench
      for (const id of ['a\0b', '\uD800']) {
        await assert.rejects(harness.session.thread.create({ id }), isTyped, JSON.stringify(id))
        await assert.rejects(harness.createSession({ resourceId: id, id: 'x' }), isTyped, JSON.stringify(id))
      }
      for (const id of ['__proto__', 'constructor']) {
        await assert.rejects(harness.session.thread.create({ id }), isTyped, id)
      }
      for (const id of ['toString', '../..', 'ü'.repeat(200)]) {
        await harness.session.thread.create({ id, title: id })
        assert.equal((await harness.session.thread.getById({ threadId: id }))?.title, id)
        await assert.rejects(harness.session.thread.create({ id }), isTyped, `${id} twice`)
      }
      const title = 'x'.repeat(1_000_000)
      await harness.renameThread({ title })
      const threadId = harness.session.thread.requireId()
      assert.equal((await harness.session.thread.getById({ threadId }))?.title, title)
    })
  })
}
