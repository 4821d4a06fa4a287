import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { StoredLineage } from '@inspan/protocol/log'
import type { Fence, Store } from '@inspan/protocol/store'
import {
  batch,
  blob,
  command,
  forkBody,
  message,
  messageAdded,
  ownedThread,
  record,
  sealedText,
  threadInfo,
} from './builders.ts'
import { flakyStore } from './flaky-store.ts'
import { rejection, withStore, type StoreContract } from './subject.ts'

const LINEAGE: StoredLineage = [{ stream: 't', from: 1, to: null }]

/** The store carries the call out, but its caller gets a connection error. */
async function lose(store: Store, call: (lossy: Store) => Promise<unknown>): Promise<void> {
  await rejection(call(flakyStore(store, { seed: 1, failAfter: 1 })), 'io')
}

/** Creates a thread of four messages, each with a blob. */
async function said(store: Store): Promise<Fence> {
  const thread = await ownedThread(store, 't')
  const seqs = [1, 2, 3, 4]
  await thread.append({
    records: seqs.map((seq) => record('t', seq, messageAdded(`m${seq}`, `text ${seq}`))),
    messages: seqs.map((seq) => message(`m${seq}`, seq)),
    blobs: seqs.map((seq) => blob(`of ${seq}`, seq)),
  })
  return thread.fence
}

async function seqsOf(store: Store, stream: string): Promise<number[]> {
  return (await store.readRecords(stream, {})).items.map(({ seq }) => seq)
}

/** Registers tests of what a caller may do when its call was carried out but the answer was lost. */
export function lostAnswersContract(contract: StoreContract): void {
  describe('when an answer was lost', () => {
    it(
      'an erasure can be repeated, and takes nothing else',
      withStore(contract, async (store) => {
        const fence = await said(store)
        const ranges = [
          { from: 2, to: 2 },
          { from: 4, to: 4 },
        ]
        await lose(store, (lossy) => lossy.erase('t', fence, ...ranges))
        assert.deepEqual(await store.erase('t', fence, ...ranges), { records: 0, messages: 0, blobs: 0 })
        const { items } = await store.listMessages(LINEAGE, { order: 'oldest' })
        assert.deepEqual(
          items.map(({ order }) => order),
          [1, 3],
        )
        assert.deepEqual(await seqsOf(store, 't'), [1, 2, 3, 4])
        assert.equal(await store.readBlob(blob('of 2', 2).hash), null)
        assert.notEqual(await store.readBlob(blob('of 3', 3).hash), null)
      }),
    )

    it(
      'a fork is found whole and owned, and making it again is refused',
      withStore(contract, async (store) => {
        const fence = await said(store)
        const shared: StoredLineage = [{ stream: 't', from: 1, to: 2 }]
        const start = { owner: 'me', records: [record('fork', 3, forkBody('t', 2, shared))] }
        const make = (on: Store): Promise<unknown> =>
          on.createStream({ kind: 'thread', info: threadInfo('fork'), headSeq: 2, start })
        await lose(store, make)
        await rejection(make(store), 'already-exists')
        const status = await store.getStream('fork')
        assert.deepEqual([status?.owner, status?.epoch, status?.headSeq], ['me', 1, 3])
        assert.deepEqual(await store.claim('fork', 'me'), { status: 'owned', epoch: 1, headSeq: 3 })
        assert.deepEqual((await store.listForks({ stream: 't', from: 1, to: 9 })).items, [{ thread: 'fork', to: 2 }])
        assert.deepEqual(await seqsOf(store, 'fork'), [3])
        // The fork counts once, so everything goes with it.
        await store.deleteThread('t', fence)
        await store.deleteThread('fork', { owner: 'me', epoch: 1 })
        await rejection(store.readLineage(shared, {}), 'not-found')
      }),
    )

    it(
      'an append, sealed parts and blobs with it, is there once, and the same again is refused',
      withStore(contract, async (store) => {
        const thread = await ownedThread(store, 't')
        await thread.write([batch('m', '0', 'a'), batch('m', '0', 'b')])
        const seal = (on: Store): Promise<unknown> =>
          on.append({
            stream: 't',
            fence: thread.fence,
            records: [record('t', 3, sealedText('m', '0', 'ab'), { first: 1 })],
            blobs: [blob('kept apart', 3)],
          })
        await lose(store, seal)
        assert.equal((await store.getStream('t'))?.headSeq, 3)
        assert.match((await rejection(seal(store), 'misuse')).hint ?? '', /written already/)
        const { items } = await store.readRecords('t', {})
        assert.deepEqual(items, [record('t', 3, sealedText('m', '0', 'ab'), { first: 1 })])
        assert.notEqual(await store.readBlob(blob('kept apart', 3).hash), null)
        // Referenced once, so one erasure removes it.
        assert.equal((await store.erase('t', thread.fence, { from: 3, to: 3 })).blobs, 1)
        assert.equal(await store.readBlob(blob('kept apart', 3).hash), null)
      }),
    )

    it(
      'a command is admitted and settled once, with the first outcome',
      withStore(contract, async (store) => {
        const sent = command('c')
        await lose(store, (lossy) => lossy.admitCommand(sent))
        assert.equal((await store.admitCommand(sent)).status, 'duplicate')
        await lose(store, (lossy) => lossy.settleCommand({ key: sent.key, outcome: 'first' }))
        assert.equal(await store.settleCommand({ key: sent.key, outcome: 'second' }), false)
        const row = await store.getCommand(sent.key)
        assert.deepEqual([row?.state, row?.outcome], ['done', 'first'])
      }),
    )

    it(
      'a stream is claimed, taken over and released once',
      withStore(contract, async (store) => {
        await store.createStream({ kind: 'thread', info: threadInfo('t'), headSeq: 0 })
        await lose(store, (lossy) => lossy.claim('t', 'a'))
        assert.deepEqual(await store.claim('t', 'a'), { status: 'owned', epoch: 1, headSeq: 0 })
        await lose(store, (lossy) => lossy.takeOver('t', 'b', 1))
        assert.deepEqual(await store.takeOver('t', 'b', 1), { status: 'owned', epoch: 2, headSeq: 0 })
        assert.equal((await store.takeOver('t', 'c', 1)).status, 'held')
        await lose(store, (lossy) => lossy.release('t', { owner: 'b', epoch: 2 }))
        assert.deepEqual(await store.claim('t', 'c'), { status: 'owned', epoch: 3, headSeq: 0 })
        // A late repetition takes nothing from the next owner.
        await store.release('t', { owner: 'b', epoch: 2 })
        assert.equal((await store.getStream('t'))?.owner, 'c')
      }),
    )

    it(
      'a deletion is done, and reports that',
      withStore(contract, async (store) => {
        const fence = await said(store)
        await lose(store, (lossy) => lossy.deleteThread('t', fence))
        assert.deepEqual(await store.deleteThread('t', fence), { deleted: false, retained: [] })
        assert.equal(await store.getStream('t'), null)
      }),
    )
  })
}
