import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { StoredLineage } from '@inspan/protocol/log'
import type { Store } from '@inspan/protocol/store'
import {
  blob,
  command,
  forkBody,
  forkedThread,
  notes,
  ownedThread,
  record,
  rewindBody,
  threadInfo,
  waitRow,
} from './builders.ts'
import { rejection, withStore, type StoreContract } from './subject.ts'

const upTo = (stream: string, to: number): StoredLineage => [{ stream, from: 1, to }]

async function seqsOf(store: Store, lineage: StoredLineage): Promise<number[]> {
  return (await store.readLineage(lineage, { limit: 1000 })).items.map((found) => found.seq)
}

export function deletionsContract(contract: StoreContract): void {
  describe('deletion', () => {
    it(
      'removes a thread without forks completely',
      withStore(contract, async (store) => {
        const thread = await ownedThread(store, 't')
        await thread.say(1200)
        await thread.append({ records: [], waits: [waitRow('t', 'w', 1)], blobs: [blob('x', 1)] })
        assert.deepEqual(await store.deleteThread('t', thread.fence), { deleted: true, retained: [] })
        assert.equal(await store.getStream('t'), null)
        assert.equal(await store.getThread('t'), null)
        assert.deepEqual((await store.listThreads({ includeHidden: true })).items, [])
        assert.deepEqual((await store.listWaits({})).items, [])
        assert.equal(await store.getWait('t', 'w'), null)
        assert.equal(await store.readBlob(blob('x', 1).hash), null)
        await rejection(store.readRecords('t', {}), 'not-found')
        await rejection(store.readLineage(upTo('t', 3), {}), 'not-found')
        await rejection(thread.append({ records: notes('t', 1201, 1) }), 'not-found')
        assert.deepEqual(await store.deleteThread('t', thread.fence), { deleted: false, retained: [] })
        await ownedThread(store, 't')
        assert.deepEqual((await store.readRecords('t', {})).items, [])
      }),
    )

    it(
      'leaves nothing behind that a thread of the same name could be taken for',
      withStore(contract, async (store) => {
        const before = await ownedThread(store, 't')
        await before.say(3)
        await store.deleteThread('t', before.fence)
        const stranger = await ownedThread(store, 'stranger')
        await stranger.say(3)
        const anew = await ownedThread(store, 't')
        await anew.say(2)
        await rejection(before.append({ records: notes('t', 4, 1) }), 'misuse')
        assert.deepEqual(await seqsOf(store, upTo('t', 9)), [1, 2])
        assert.deepEqual(await seqsOf(store, upTo('stranger', 9)), [1, 2, 3])
      }),
    )

    it(
      'is done by the owner only',
      withStore(contract, async (store) => {
        await ownedThread(store, 't')
        await rejection(store.deleteThread('t', { owner: 'me', epoch: 9 }), 'fenced')
        assert.notEqual(await store.getThread('t'), null)
      }),
    )

    it(
      'a parent with a living fork is hidden at once; what the fork needs stays until the fork goes',
      withStore(contract, async (store) => {
        const parent = await ownedThread(store, 'parent')
        await parent.say(10)
        await parent.append({
          records: [],
          blobs: [blob('early', 3), blob('late', 8)],
          waits: [waitRow('parent', 'w', 3)],
        })
        const fork = await forkedThread(store, 'fork', 'parent', 4, upTo('parent', 4))
        await fork.say(2)
        const result = await store.deleteThread('parent', parent.fence)
        assert.deepEqual(result, {
          deleted: true,
          retained: [{ stream: 'parent', from: 1, to: 4, neededBy: ['fork'] }],
        })
        assert.equal(await store.getStream('parent'), null)
        assert.equal(await store.getThread('parent'), null)
        await rejection(store.readRecords('parent', {}), 'not-found')
        await rejection(store.claim('parent', 'me'), 'not-found')
        await rejection(
          store.append({ stream: 'parent', fence: parent.fence, records: notes('parent', 11, 1) }),
          'not-found',
        )
        await rejection(
          store.createStream({ kind: 'thread', info: threadInfo('parent'), headSeq: 0 }),
          'already-exists',
        )
        const wait = await store.getWait('parent', 'w')
        assert.equal(wait?.state, 'cancelled')
        assert.equal(wait?.reason, 'delete')
        assert.equal(wait?.wait.description, '')
        assert.deepEqual((await store.listWaits({})).items, [])

        const lineage: StoredLineage = [...upTo('parent', 4), { stream: 'fork', from: 5, to: null }]
        assert.deepEqual(await seqsOf(store, lineage), [1, 2, 3, 4, 5, 6, 7])
        const shown = await store.listMessages(lineage, { order: 'oldest' })
        assert.deepEqual(
          shown.items.map((found) => found.id),
          ['parent-1', 'parent-2', 'parent-3', 'parent-4', 'fork-6', 'fork-7'],
        )
        assert.notEqual(await store.readBlob(blob('early', 3).hash), null)
        assert.equal(await store.readBlob(blob('late', 8).hash), null)
        assert.deepEqual(await seqsOf(store, upTo('parent', 10)), [1, 2, 3, 4])

        assert.deepEqual(await store.deleteThread('fork', fork.fence), { deleted: true, retained: [] })
        assert.equal(await store.readBlob(blob('early', 3).hash), null)
        await rejection(store.readLineage(upTo('parent', 4), {}), 'not-found')
        assert.equal(await store.getWait('parent', 'w'), null)
        await ownedThread(store, 'parent')
      }),
    )

    it(
      'a fork of a fork keeps both ancestors, whichever of them is deleted first',
      withStore(contract, async (store) => {
        const lineage: StoredLineage = [
          ...upTo('a', 3),
          { stream: 'b', from: 4, to: 5 },
          { stream: 'c', from: 6, to: null },
        ]
        for (const order of [
          ['a', 'b', 'c'],
          ['b', 'a', 'c'],
        ]) {
          const a = await ownedThread(store, 'a')
          await a.say(5)
          const b = await forkedThread(store, 'b', 'a', 3, upTo('a', 3))
          await b.say(3)
          const c = await forkedThread(store, 'c', 'b', 5, lineage.slice(0, 2))
          await c.say(1)
          const fences = { a: a.fence, b: b.fence, c: c.fence }
          for (const id of order) {
            if (id === 'c') assert.deepEqual(await seqsOf(store, lineage), [1, 2, 3, 4, 5, 6, 7])
            assert.equal((await store.deleteThread(id, fences[id as 'a' | 'b' | 'c'])).deleted, true)
          }
          for (const id of order) await rejection(store.readLineage(upTo(id, 5), {}), 'not-found')
        }
      }),
    )

    it(
      'the result names each part that stays and every thread that needs it',
      withStore(contract, async (store) => {
        const parent = await ownedThread(store, 'parent')
        await parent.say(9)
        await forkedThread(store, 'one', 'parent', 3, upTo('parent', 3))
        const two = await forkedThread(store, 'two', 'parent', 6, upTo('parent', 6))
        const { retained } = await store.deleteThread('parent', parent.fence)
        assert.deepEqual(retained, [
          { stream: 'parent', from: 1, to: 3, neededBy: ['one', 'two'] },
          { stream: 'parent', from: 4, to: 6, neededBy: ['two'] },
        ])
        await store.deleteThread('two', two.fence)
        assert.deepEqual(await seqsOf(store, upTo('parent', 9)), [1, 2, 3])
        assert.deepEqual((await store.deleteThread('parent', parent.fence)).retained, [
          { stream: 'parent', from: 1, to: 3, neededBy: ['one'] },
        ])
      }),
    )

    it(
      'it can be asked before which forks continue from a range, and how far',
      withStore(contract, async (store) => {
        const parent = await ownedThread(store, 'parent')
        await parent.say(9)
        await forkedThread(store, 'early', 'parent', 3, upTo('parent', 3))
        const late = await forkedThread(store, 'late', 'parent', 6, upTo('parent', 6))
        await late.say(2)
        const both: StoredLineage = [...upTo('parent', 6), { stream: 'late', from: 7, to: 8 }]
        await forkedThread(store, 'of-fork', 'late', 8, both)
        await late.write([rewindBody(2, upTo('parent', 2))])
        const forks = async (from: number, to: number, stream = 'parent'): Promise<unknown> =>
          (await store.listForks({ stream, from, to })).items
        assert.deepEqual(await forks(1, 2), [
          { thread: 'early', to: 2 },
          { thread: 'late', to: 2 },
          { thread: 'of-fork', to: 2 },
        ])
        // An un-rewind can return to what was rewound.
        assert.deepEqual(await forks(4, 9), [
          { thread: 'late', to: 6 },
          { thread: 'of-fork', to: 6 },
        ])
        assert.deepEqual(await forks(7, 9), [])
        assert.deepEqual(await forks(7, 9, 'late'), [{ thread: 'of-fork', to: 8 }])
        assert.deepEqual(await forks(1, 9, 'nobody'), [])
        const first = await store.listForks({ stream: 'parent', from: 1, to: 2, limit: 2 })
        assert.equal(first.items.length, 2)
        assert.deepEqual(
          (await store.listForks({ stream: 'parent', from: 1, to: 2, limit: 2, cursor: first.next ?? '' })).items,
          [{ thread: 'of-fork', to: 2 }],
        )
        await store.deleteThread('late', late.fence)
        assert.deepEqual(await forks(4, 9), [{ thread: 'of-fork', to: 6 }])
        await rejection(store.listForks({ stream: 'parent', from: 0, to: 2 }), 'invalid-input')
      }),
    )

    it(
      'what a living thread has rewound is still its own',
      withStore(contract, async (store) => {
        const parent = await ownedThread(store, 'parent')
        await parent.say(4)
        const fork = await forkedThread(store, 'fork', 'parent', 4, upTo('parent', 4))
        await fork.write([rewindBody(2, upTo('parent', 2))])
        const { retained } = await store.deleteThread('parent', parent.fence)
        assert.deepEqual(retained, [{ stream: 'parent', from: 1, to: 4, neededBy: ['fork'] }])
        await fork.write([rewindBody(4, upTo('parent', 4))])
      }),
    )

    it(
      'a fork can be made of what is retained, and of nothing that is gone',
      withStore(contract, async (store) => {
        const parent = await ownedThread(store, 'parent')
        await parent.say(6)
        const fork = await forkedThread(store, 'fork', 'parent', 4, upTo('parent', 4))
        await store.deleteThread('parent', parent.fence)
        const late = await forkedThread(store, 'late', 'fork', 3, upTo('parent', 3))
        await rejection(forkedThread(store, 'too late', 'parent', 6, upTo('parent', 6)), 'not-found')
        await store.deleteThread('fork', fork.fence)
        assert.deepEqual(await seqsOf(store, upTo('parent', 6)), [1, 2, 3])
        await store.deleteThread('late', late.fence)
        await rejection(store.readLineage(upTo('parent', 3), {}), 'not-found')
      }),
    )

    it(
      'a lineage may not name what its source has not written',
      withStore(contract, async (store) => {
        const parent = await ownedThread(store, 'parent')
        await parent.say(2)
        const attempt = (lineage: StoredLineage): Promise<unknown> =>
          store.createStream({
            kind: 'thread',
            info: threadInfo('fork'),
            headSeq: 5,
            start: { owner: 'me', records: [record('fork', 6, forkBody('parent', 5, lineage))] },
          })
        await rejection(attempt(upTo('parent', 5)), 'misuse')
        await rejection(attempt([{ stream: 'parent', from: 1, to: null }]), 'misuse')
        assert.equal(await store.getStream('fork'), null)
      }),
    )

    it(
      'commands that were still to be carried out keep nothing of what they said',
      withStore(contract, async (store) => {
        const thread = await ownedThread(store, 't')
        await store.admitCommand(command('c', { target: 't' }))
        await store.deleteThread('t', thread.fence)
        const left = await store.getCommand(command('c').key)
        assert.equal(left?.state, 'accepted')
        assert.equal(left?.body, null)
      }),
    )

    it(
      'a session can be deleted too',
      withStore(contract, async (store) => {
        const info = threadInfo('s')
        await store.createStream({
          kind: 'session',
          info,
          headSeq: 0,
          start: { owner: 'me', records: notes('s', 1, 1) },
        })
        assert.equal((await store.deleteThread('s', { owner: 'me', epoch: 1 })).deleted, true)
        assert.equal(await store.getStream('s'), null)
      }),
    )
  })
}
