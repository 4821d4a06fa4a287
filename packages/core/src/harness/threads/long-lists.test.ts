import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { InspanError } from '@inspan/protocol'
import type { RecordBody } from '@inspan/protocol/log'
import { CountingStore } from '../../engine/log/counting-store.fixture.ts'
import { createThread, ProcessOwner, ThreadRuntime } from '../../engine/index.ts'
import { HarnessBench } from '../harness.fixture.ts'

const COUNT = 2500

function said(index: number): Extract<RecordBody, { type: 'message.added' }> {
  const parts = [{ id: '0', type: 'text', text: `said ${index}` }] as const
  return { type: 'message.added', messageId: `m${index}`, role: 'user', parts }
}

async function storeWithLongThread(): Promise<CountingStore> {
  const store = new CountingStore()
  await createThread(store, { id: 'long', resourceId: 'r' })
  const owner = await ProcessOwner.register(store)
  const runtime = await ThreadRuntime.open({ store, owner, thread: 'long', agents: {} })
  await runtime.record(Array.from({ length: COUNT }, (_, index) => said(index)))
  await runtime.close()
  await owner.close()
  store.reset()
  return store
}

suite('lists of thousands', () => {
  test('messages come a thousand at a time, the newest page first, each message once', async () => {
    const storage = await storeWithLongThread()
    await using bench = new HarnessBench([], { storage, resourceId: 'r' })
    const { thread } = bench.harness.session
    const pages: string[][] = []
    let cursor: string | null = null
    do {
      storage.reset()
      const from: { cursor?: string } = cursor === null ? {} : { cursor }
      const page = await thread.listMessages({ threadId: 'long', ...from })
      assert.ok(storage.rows <= 2 * 1000, `${storage.rows} rows for one page`)
      pages.unshift(page.map(({ id }) => id))
      cursor = page.next
    } while (cursor !== null)
    assert.deepEqual(
      pages.map((page) => page.length),
      [500, 1000, 1000],
    )
    assert.deepEqual(
      pages.flat(),
      Array.from({ length: COUNT }, (_, index) => `m${index}`),
    )
  })

  test('whoever wants fewer messages, or more, gets so many, and reads no more', async () => {
    const storage = await storeWithLongThread()
    await using bench = new HarnessBench([], { storage, resourceId: 'r' })
    const { thread } = bench.harness.session
    await thread.listMessages({ threadId: 'long', limit: 1 })
    storage.reset()
    const few = await thread.listMessages({ threadId: 'long', limit: 3 })
    assert.deepEqual([few.map(({ id }) => id), storage.rows], [['m2497', 'm2498', 'm2499'], 4])
    const before = await thread.listMessages({ threadId: 'long', limit: 2, cursor: few.next ?? '' })
    assert.deepEqual(
      before.map(({ id }) => id),
      ['m2495', 'm2496'],
    )
    const many = await thread.listMessages({ threadId: 'long', limit: COUNT })
    assert.deepEqual([many.length, many[0]?.id, many.next], [COUNT, 'm0', null])
    await assert.rejects(thread.listMessages({ threadId: 'long', cursor: 'x' }), (error) =>
      InspanError.is(error, 'invalid-input'),
    )
  })

  test('threads and resources come a thousand at a time, with where the next page begins', async () => {
    const storage = new CountingStore()
    const ids = Array.from({ length: 1200 }, (_, index) => `t${index}`)
    for (const id of ids) await createThread(storage, { id, resourceId: `r-${id}` })
    await using bench = new HarnessBench([], { storage })
    storage.reset()
    const page = await bench.harness.session.thread.list({ allResources: true })
    assert.equal(storage.rows, 1000)
    const rest = await bench.harness.session.thread.list({ allResources: true, cursor: page.next ?? '' })
    assert.deepEqual([page.length, rest.length, rest.next], [1000, 200, null])
    assert.deepEqual(new Set([...page, ...rest].map(({ id }) => id)), new Set(ids))
    const all = await bench.harness.session.thread.list({ allResources: true, limit: 1100 })
    assert.deepEqual([all.length, all.next === null], [1100, false])
    storage.reset()
    const resources = await bench.harness.getKnownResourceIds()
    assert.equal(storage.rows, 1000)
    const others = await bench.harness.getKnownResourceIds({ cursor: resources.next ?? '' })
    assert.deepEqual(new Set([...resources, ...others]), new Set(ids.map((id) => `r-${id}`)))
  })
})
