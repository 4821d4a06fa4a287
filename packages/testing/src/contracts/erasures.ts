import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { emptyHead, storedHead, type StoredLineage } from '@inspan/protocol/log'
import {
  batch,
  blob,
  forkedThread,
  message,
  messageAdded,
  note,
  notes,
  ownedThread,
  record,
  waitRow,
} from './builders.ts'
import { rejection, withStore, type StoreContract } from './subject.ts'

const LINEAGE: StoredLineage = [{ stream: 't', from: 1, to: null }]

export function erasuresContract(contract: StoreContract): void {
  describe('erasure', () => {
    it(
      'takes the content of a range out of everything that holds it and leaves the rest',
      withStore(contract, async (store) => {
        const thread = await ownedThread(store, 't')
        await thread.append({
          records: [
            record('t', 1, messageAdded('before', 'stays')),
            record('t', 2, messageAdded('gone', 'secret')),
            record('t', 3, batch('part', '0', 'secret')),
            record('t', 4, note('secret'), { by: 'someone' }),
            record('t', 5, { type: 'config.changed', mode: 'plan' }),
            record('t', 6, messageAdded('after', 'stays')),
          ],
          messages: [message('before', 1), message('gone', 2, 'secret'), message('after', 6)],
          waits: [waitRow('t', 'early', 1), waitRow('t', 'late', 4)],
          head: { head: { ...storedHead(emptyHead('t')), title: 'secret' }, reducerVersion: 1 },
          blobs: [blob('secret', 2), blob('stays', 6)],
        })
        const result = await store.erase('t', thread.fence, { from: 2, to: 5 })
        assert.deepEqual(result, { records: 3, messages: 1, blobs: 1 })

        const { items } = await store.readRecords('t', {})
        assert.deepEqual(
          items.map((found) => found.seq),
          [1, 2, 3, 4, 5, 6],
        )
        assert.ok(!JSON.stringify(items).includes('secret'))
        assert.deepEqual(items[0], record('t', 1, messageAdded('before', 'stays')))
        assert.deepEqual(items[3], record('t', 4, note(''), { by: 'someone' }))
        assert.deepEqual(items[4], record('t', 5, { type: 'config.changed', mode: 'plan' }))
        const messages = await store.listMessages(LINEAGE, { order: 'oldest' })
        assert.deepEqual(messages.items, [message('before', 1), message('after', 6)])
        assert.equal(await store.getMessage(LINEAGE, 'gone'), null)
        assert.equal(await store.readHead('t', 1), null)
        assert.equal(await store.readBlob(blob('secret', 2).hash), null)
        assert.notEqual(await store.readBlob(blob('stays', 6).hash), null)
        assert.deepEqual(await store.getWait('t', 'early'), waitRow('t', 'early', 1))
        const wait = await store.getWait('t', 'late')
        assert.equal(wait?.state, 'cancelled')
        assert.equal(wait?.reason, 'erase')
        assert.equal(wait?.wait.description, '')
      }),
    )

    it(
      'takes several ranges, and leaves what is between them',
      withStore(contract, async (store) => {
        const thread = await ownedThread(store, 't')
        await thread.append({ records: notes('t', 1, 5) })
        const result = await store.erase('t', thread.fence, { from: 5, to: 5 }, { from: 1, to: 2 })
        assert.deepEqual(result, { records: 3, messages: 0, blobs: 0 })
        const { items } = await store.readRecords('t', {})
        assert.deepEqual(
          items.map(({ body }) => (body.type === 'note' ? body.text : undefined)),
          ['', '', 'note 3', 'note 4', ''],
        )
        await rejection(store.erase('t', thread.fence, { from: 1, to: 2 }, { from: 0, to: 1 }), 'invalid-input')
      }),
    )

    it(
      'can be repeated',
      withStore(contract, async (store) => {
        const thread = await ownedThread(store, 't')
        await thread.append({ records: notes('t', 1, 3) })
        assert.deepEqual(await store.erase('t', thread.fence, { from: 1, to: 3 }), {
          records: 3,
          messages: 0,
          blobs: 0,
        })
        assert.deepEqual(await store.erase('t', thread.fence, { from: 1, to: 9 }), {
          records: 0,
          messages: 0,
          blobs: 0,
        })
      }),
    )

    it(
      'reaches every record of a long range',
      withStore(contract, async (store) => {
        const thread = await ownedThread(store, 't')
        await thread.say(1300)
        const result = await store.erase('t', thread.fence, { from: 1, to: 1299 })
        assert.deepEqual(result, { records: 1299, messages: 1299, blobs: 0 })
        const left = await store.listMessages(LINEAGE, { order: 'newest' })
        assert.deepEqual(
          left.items.map((found) => found.order),
          [1300],
        )
      }),
    )

    it(
      'of what a deleted thread has left is done by whoever owns a living fork of it',
      withStore(contract, async (store) => {
        const parent = await ownedThread(store, 'parent')
        await parent.say(6)
        await parent.append({ records: [], blobs: [blob('secret', 2)] })
        const shared: StoredLineage = [{ stream: 'parent', from: 1, to: 4 }]
        const fork = await forkedThread(store, 'fork', 'parent', 4, shared)
        const stranger = await ownedThread(store, 'stranger')
        const secondClaim = { owner: 'me', epoch: 2 }
        await rejection(store.erase('parent', { owner: 'other', epoch: 1 }, { from: 2, to: 3 }), 'fenced')
        await store.deleteThread('parent', parent.fence)
        await rejection(store.erase('parent', { owner: 'other', epoch: 1 }, { from: 2, to: 3 }), 'fenced')
        await rejection(store.erase('parent', secondClaim, { from: 2, to: 3 }), 'fenced')

        const result = await store.erase('parent', fork.fence, { from: 2, to: 3 })
        assert.deepEqual(result, { records: 2, messages: 2, blobs: 1 })
        assert.equal(await store.readBlob(blob('secret', 2).hash), null)
        const { items } = await store.listMessages(shared, { order: 'oldest' })
        assert.deepEqual(
          items.map((found) => found.order),
          [1, 4],
        )
        const records = JSON.stringify((await store.readLineage(shared, {})).items)
        assert.ok(!records.includes('text of parent-2') && records.includes('text of parent-4'))

        await store.deleteThread('fork', fork.fence)
        await rejection(store.erase('parent', fork.fence, { from: 1, to: 1 }), 'not-found')
        await rejection(store.erase('parent', stranger.fence, { from: 1, to: 1 }), 'not-found')
      }),
    )

    it(
      'is done by the owner only',
      withStore(contract, async (store) => {
        const thread = await ownedThread(store, 't')
        await thread.append({ records: notes('t', 1, 1) })
        await rejection(store.erase('t', { owner: 'me', epoch: 9 }, { from: 1, to: 1 }), 'fenced')
        await rejection(store.erase('t', thread.fence, { from: 0, to: 1 }), 'invalid-input')
        assert.deepEqual((await store.readRecords('t', {})).items, notes('t', 1, 1))
      }),
    )
  })
}
