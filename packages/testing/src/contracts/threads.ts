import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Store, ThreadInfo } from '@inspan/protocol/store'
import { allPages, AT, ownedThread, threadInfo } from './builders.ts'
import { rejection, withStore, type StoreContract } from './subject.ts'

export function threadsContract(contract: StoreContract): void {
  const create = async (store: Store, id: string, more: Partial<ThreadInfo> = {}): Promise<ThreadInfo> => {
    const info = threadInfo(id, more)
    await store.createStream({ kind: 'thread', info, headSeq: 0 })
    return info
  }

  describe('threads', () => {
    it(
      'a thread comes back as it was described',
      withStore(contract, async (store) => {
        const info = await create(store, 't', {
          title: 'cut in an emoji \ud83d',
          hidden: true,
          root: 'root',
          parent: 'parent',
          parentCall: 'call',
          forkedFrom: { thread: 'parent', at: 3 },
          metadata: { deep: { list: [1, null, 'x'] } },
        })
        assert.deepEqual(await store.getThread('t'), info)
        const plain = await create(store, 'plain')
        assert.deepEqual(await store.getThread('plain'), plain)
      }),
    )

    it(
      'an append changes what it names and nothing else',
      withStore(contract, async (store) => {
        const thread = await ownedThread(store, 't', { title: 'old', metadata: { a: 1 } })
        const before = await store.getThread('t')
        await thread.append({ records: [], thread: { title: 'new' } })
        assert.deepEqual(await store.getThread('t'), { ...before, title: 'new' })
        await thread.append({
          records: [],
          thread: { title: null, metadata: { b: 2 }, hidden: true, resourceId: 'r2' },
        })
        assert.deepEqual(await store.getThread('t'), {
          ...before,
          title: null,
          metadata: { b: 2 },
          hidden: true,
          resourceId: 'r2',
        })
        assert.deepEqual((await store.listThreads({ resourceId: 'r2', includeHidden: true })).items.length, 1)
        assert.deepEqual((await store.listThreads({ resourceId: 'r', includeHidden: true })).items, [])
      }),
    )

    it(
      'a clock that goes back does not move a thread back',
      withStore(contract, async (store) => {
        const thread = await ownedThread(store, 't')
        await thread.append({ records: [], thread: { updatedAt: AT + 1000 } })
        await thread.append({ records: [], thread: { updatedAt: AT - 1000 } })
        assert.equal((await store.getThread('t'))?.updatedAt, AT + 1000)
      }),
    )

    it(
      'threads are listed with the newest change first, page by page',
      withStore(contract, async (store) => {
        for (let i = 0; i < 9; i++) await create(store, `t${i}`, { updatedAt: AT + (i % 3), resourceId: `r${i % 2}` })
        await create(store, 'hidden', { hidden: true, updatedAt: AT + 1 })
        const ids = async (query: Parameters<Store['listThreads']>[0]): Promise<string[]> => {
          const pages = await allPages((cursor) =>
            store.listThreads({ ...query, limit: 2, ...(cursor === undefined ? {} : { cursor }) }),
          )
          assert.ok(pages.every((page) => page.length <= 2))
          return pages.flat().map((thread) => thread.id)
        }
        const newestFirst = ['t2', 't5', 't8', 't1', 't4', 't7', 't0', 't3', 't6']
        assert.deepEqual(await ids({}), newestFirst)
        assert.deepEqual(await ids({ includeHidden: true }), newestFirst.toSpliced(3, 0, 'hidden'))
        assert.deepEqual(await ids({ resourceId: 'r0' }), ['t2', 't8', 't4', 't0', 't6'])
        assert.deepEqual(await ids({ resourceId: 'none' }), [])
      }),
    )

    it(
      'a thread that moves to the top while a list is read is never shown twice behind it',
      withStore(contract, async (store) => {
        const thread = await ownedThread(store, 'moves', { updatedAt: AT })
        for (let i = 0; i < 4; i++) await create(store, `t${i}`, { updatedAt: AT + 10 + i })
        const first = await store.listThreads({ limit: 2 })
        await thread.append({ records: [], thread: { updatedAt: AT + 100 } })
        const second = await store.listThreads({ limit: 10, cursor: first.next ?? '' })
        assert.deepEqual(
          [...first.items, ...second.items].map((found) => found.id),
          ['t3', 't2', 't1', 't0'],
        )
      }),
    )

    it(
      'the threads below one are found by their root',
      withStore(contract, async (store) => {
        await create(store, 'root')
        await create(store, 'a', { root: 'root', hidden: true, updatedAt: AT + 1 })
        await create(store, 'b', { root: 'root', resourceId: 'r2', updatedAt: AT + 2 })
        await create(store, 'c', { root: 'another', hidden: true })
        const below = async (query: Parameters<Store['listThreads']>[0]): Promise<string[]> =>
          (await store.listThreads(query)).items.map((thread) => thread.id)
        assert.deepEqual(await below({ root: 'root' }), ['b', 'a'])
        assert.deepEqual(await below({ root: 'root', resourceId: 'r' }), ['a'])
      }),
    )

    it(
      'resource ids are listed once each, in order',
      withStore(contract, async (store) => {
        for (let i = 0; i < 12; i++) await create(store, `t${i}`, { resourceId: `r${i % 5}`, hidden: i % 2 === 0 })
        const pages = await allPages((cursor) =>
          store.listResourceIds({ limit: 2, ...(cursor === undefined ? {} : { cursor }) }),
        )
        assert.deepEqual(pages, [['r0', 'r1'], ['r2', 'r3'], ['r4']])
      }),
    )

    it(
      'a thread without a place in time or without a resource is refused',
      withStore(contract, async (store) => {
        await rejection(create(store, 't', { updatedAt: NaN }), 'invalid-input')
        await rejection(create(store, 't', { resourceId: '' }), 'invalid-input')
        assert.equal(await store.getStream('t'), null)
      }),
    )
  })
}
