import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { forkBody, ownedThread, notes, record, threadInfo } from './builders.ts'
import { rejection, withStore, type StoreContract } from './subject.ts'

export function streamsContract(contract: StoreContract): void {
  describe('streams', () => {
    it(
      'a new stream is empty, unowned and at the given seq',
      withStore(contract, async (store) => {
        const made = await store.createStream({ kind: 'thread', info: threadInfo('t'), headSeq: 7 })
        const expected = { stream: 't', kind: 'thread', headSeq: 7, owner: null, epoch: 0 } as const
        assert.deepEqual(made, expected)
        assert.deepEqual(await store.getStream('t'), expected)
        assert.deepEqual(await store.readRecords('t', {}), { items: [], next: null })
      }),
    )

    it(
      'an id is used once',
      withStore(contract, async (store) => {
        await store.createStream({ kind: 'thread', info: threadInfo('t'), headSeq: 0 })
        await rejection(store.createStream({ kind: 'session', info: threadInfo('t'), headSeq: 0 }), 'already-exists')
      }),
    )

    it(
      'a stream can be created with its owner and first records in one step',
      withStore(contract, async (store) => {
        const made = await store.createStream({
          kind: 'thread',
          info: threadInfo('t'),
          headSeq: 0,
          start: { owner: 'me', records: notes('t', 1, 2), thread: { title: 'begun' } },
        })
        assert.deepEqual(made, { stream: 't', kind: 'thread', headSeq: 2, owner: 'me', epoch: 1 })
        assert.deepEqual((await store.readRecords('t', {})).items, notes('t', 1, 2))
        assert.equal((await store.getThread('t'))?.title, 'begun')
        await store.append({ stream: 't', fence: { owner: 'me', epoch: 1 }, records: notes('t', 3, 1) })
      }),
    )

    it(
      'a stream whose first records are refused does not come to exist',
      withStore(contract, async (store) => {
        const body = forkBody('nobody', 5, [{ stream: 'nobody', from: 1, to: 5 }])
        const start = { owner: 'me', records: [record('fork', 6, body)] }
        await rejection(
          store.createStream({ kind: 'thread', info: threadInfo('fork'), headSeq: 5, start }),
          'not-found',
        )
        assert.equal(await store.getStream('fork'), null)
        assert.equal(await store.getThread('fork'), null)
      }),
    )

    it(
      'what does not exist is a typed error, or null where a lookup may come up empty',
      withStore(contract, async (store) => {
        assert.equal(await store.getStream('x'), null)
        assert.equal(await store.getThread('x'), null)
        assert.equal(await store.readHead('x', 1), null)
        assert.equal(await store.getWait('x', 'w'), null)
        await rejection(store.readRecords('x', {}), 'not-found')
        await rejection(store.claim('x', 'me'), 'not-found')
        await rejection(store.takeOver('x', 'me', 0), 'not-found')
        await rejection(store.append({ stream: 'x', fence: { owner: 'me', epoch: 1 }, records: [] }), 'not-found')
      }),
    )

    it(
      'an id that would not come back as it was is refused',
      withStore(contract, async (store) => {
        for (const id of ['', 'a\0b', 'half an emoji \ud83d']) {
          await rejection(store.createStream({ kind: 'thread', info: threadInfo(id), headSeq: 0 }), 'invalid-input')
        }
        for (const headSeq of [-1, 0.5, NaN, 2 ** 40]) {
          await rejection(store.createStream({ kind: 'thread', info: threadInfo('t'), headSeq }), 'invalid-input')
        }
      }),
    )

    it(
      'a session is a stream, not a thread',
      withStore(contract, async (store) => {
        await store.createStream({ kind: 'session', info: threadInfo('s'), headSeq: 0 })
        assert.equal((await store.getStream('s'))?.kind, 'session')
        assert.equal(await store.getThread('s'), null)
        assert.deepEqual((await store.listThreads({ includeHidden: true })).items, [])
        assert.deepEqual((await store.listResourceIds({})).items, [])
      }),
    )

    it(
      'a closed store refuses calls with that reason',
      withStore(contract, async (store) => {
        await ownedThread(store, 't')
        await store.close()
        await store.close()
        await rejection(store.getStream('t'), 'closed')
        await rejection(store.append({ stream: 't', fence: { owner: 'me', epoch: 1 }, records: [] }), 'closed')
      }),
    )

    it(
      'the epoch is known after opening and stays',
      withStore(contract, async (store) => {
        await store.open()
        const { epoch } = store
        assert.match(epoch, /./)
        await ownedThread(store, 't')
        await store.open()
        assert.equal(store.epoch, epoch)
      }),
    )
  })
}
