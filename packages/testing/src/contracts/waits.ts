import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { WaitRow } from '@inspan/protocol/store'
import { allPages, AT, notes, ownedThread, waitRow } from './builders.ts'
import { withStore, type StoreContract } from './subject.ts'

export function waitsContract(contract: StoreContract): void {
  describe('waits', () => {
    it(
      'a wait is found by its id, as it is stored',
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
      'waits that are due are listed, the one due longest first, until they are settled',
      withStore(contract, async (store) => {
        const a = await ownedThread(store, 'a')
        const b = await ownedThread(store, 'b')
        const due = (stream: string, id: string, at?: number): WaitRow => {
          const row = waitRow(stream, id, 1)
          return at === undefined ? row : { ...row, wait: { ...row.wait, kind: 'limit', due: at } }
        }
        await a.append({
          records: notes('a', 1, 1),
          waits: [due('a', 'late', AT + 9), due('a', 'early', AT + 2), due('a', 'never')],
        })
        await b.append({ records: notes('b', 1, 1), waits: [due('b', 'middle', AT + 5), due('b', 'same', AT + 5)] })
        const list = async (now: number): Promise<string[]> => {
          const pages = await allPages((cursor) =>
            store.listDue({ now, limit: 1, ...(cursor === undefined ? {} : { cursor }) }),
          )
          return pages.flat().map((row) => row.wait.id)
        }
        assert.deepEqual(await list(AT + 1), [])
        assert.deepEqual(await list(AT + 5), ['early', 'middle', 'same'])
        assert.deepEqual(await list(AT + 9), ['early', 'middle', 'same', 'late'])
        assert.deepEqual((await store.listDue({ now: AT + 2 })).items, [due('a', 'early', AT + 2)])
        await a.append({ records: [], waits: [{ ...due('a', 'early', AT + 2), state: 'answered', settledAt: AT }] })
        assert.deepEqual(await list(AT + 9), ['middle', 'same', 'late'])
        await store.deleteThread('b', b.fence)
        assert.deepEqual(await list(AT + 9), ['late'])
      }),
    )

    it(
      'waits are listed by their root: those of a thread and of all below it',
      withStore(contract, async (store) => {
        const links = { a: {}, child: { root: 'a', parent: 'a', hidden: true }, other: {} }
        for (const [id, more] of Object.entries(links)) {
          const thread = await ownedThread(store, id, more)
          await thread.append({ records: notes(id, 1, 1), waits: [waitRow(id, `of ${id}`, 1)] })
        }
        const { items } = await store.listWaits({ root: 'a', state: 'pending' })
        assert.deepEqual(
          items.map(({ wait }) => wait.id),
          ['of a', 'of child'],
        )
        assert.deepEqual((await store.listWaits({ root: 'nobody' })).items, [])
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
