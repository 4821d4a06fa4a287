import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { allPages, AT, notes, ownedThread, waitRow } from './builders.ts'
import { withStore, type StoreContract } from './subject.ts'

export function waitsContract(contract: StoreContract): void {
  describe('waits', () => {
    it(
      'a wait is found by its id, as it stands',
      withStore(contract, async (store) => {
        const thread = await ownedThread(store, 't')
        await thread.append({ records: notes('t', 1, 1), waits: [waitRow('t', 'w', 1)] })
        assert.deepEqual(await store.getWait('t', 'w'), waitRow('t', 'w', 1))
        const settled = waitRow('t', 'w', 1, { state: 'answered', answeredBy: 'someone', settledAt: AT + 5 })
        await thread.append({ records: notes('t', 2, 1), waits: [settled] })
        assert.deepEqual(await store.getWait('t', 'w'), settled)
        assert.equal(await store.getWait('t', 'other'), null)
      }),
    )

    it(
      'waits are listed in the order they were opened, by state and stream',
      withStore(contract, async (store) => {
        const a = await ownedThread(store, 'a')
        const b = await ownedThread(store, 'b')
        await a.append({ records: notes('a', 1, 1), waits: [waitRow('a', '1', 1), waitRow('a', '2', 1)] })
        await b.append({ records: notes('b', 1, 1), waits: [waitRow('b', '1', 1)] })
        await a.append({ records: notes('a', 2, 1), waits: [waitRow('a', '3', 2)] })
        const cancelled = waitRow('a', '1', 1, { state: 'cancelled', reason: 'abort', settledAt: AT })
        await a.append({ records: [], waits: [cancelled] })
        const list = async (query: Parameters<typeof store.listWaits>[0]): Promise<string[]> => {
          const pages = await allPages((cursor) =>
            store.listWaits({ ...query, limit: 1, ...(cursor === undefined ? {} : { cursor }) }),
          )
          return pages.flat().map((row) => `${row.stream}${row.wait.id}`)
        }
        assert.deepEqual(await list({}), ['a1', 'a2', 'b1', 'a3'])
        assert.deepEqual(await list({ state: 'pending' }), ['a2', 'b1', 'a3'])
        assert.deepEqual(await list({ stream: 'a' }), ['a1', 'a2', 'a3'])
        assert.deepEqual(await list({ stream: 'a', state: 'pending' }), ['a2', 'a3'])
        assert.deepEqual(await list({ stream: 'nobody' }), [])
        assert.deepEqual((await store.listWaits({ state: 'cancelled' })).items, [cancelled])
      }),
    )

    it(
      'are erased and cancelled with their range, however many there are, and no others',
      withStore(contract, async (store) => {
        const thread = await ownedThread(store, 't')
        const asked = Array.from({ length: 1_101 }, (_, index) => waitRow('t', `w${index}`, 1))
        const later = waitRow('t', 'later', 2)
        await thread.append({ records: notes('t', 1, 2), waits: [...asked, later] })
        await store.erase('t', thread.fence, { from: 1, to: 1 })
        const pages = await allPages((cursor) =>
          store.listWaits({ stream: 't', limit: 1000, ...(cursor === undefined ? {} : { cursor }) }),
        )
        const left = pages.flat().filter(({ state, wait }) => state === 'pending' || wait.description !== '')
        assert.equal(pages.flat().length, 1_102)
        assert.deepEqual(left, [later])
      }),
    )
  })
}
