import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { RecordBody, StoredLineage } from '@inspan/protocol/log'
import { blob, forkedThread, message, messageAdded, notes, ownedThread, waitRow } from './builders.ts'
import { rejection, withStore, type StoreContract } from './subject.ts'

export function blobsContract(contract: StoreContract): void {
  describe('blobs', () => {
    it(
      'a blob is found by the hash of its bytes',
      withStore(contract, async (store) => {
        const thread = await ownedThread(store, 't')
        const bytes = Uint8Array.from({ length: 100_000 }, (_, index) => index % 256)
        const big = blob(bytes, 1, 'image/png')
        const { hash } = big
        await thread.append({
          records: notes('t', 1, 1),
          blobs: [big, blob('', 1)],
        })
        const stored = await store.readBlob(hash)
        assert.ok(stored !== null, 'the blob is gone')
        assert.deepEqual([stored.hash, stored.mime], [hash, 'image/png'])
        // Compared by hash, because a failing comparison of 100,000 bytes would take minutes to describe.
        assert.equal(blob(stored.bytes, 1).hash, hash)
        assert.equal((await store.readBlob(blob('', 1).hash))?.bytes.length, 0)
        assert.equal(await store.readBlob(blob('never stored', 1).hash), null)
      }),
    )

    it(
      'with a lineage, only what its records refer to is found',
      withStore(contract, async (store) => {
        const a = await ownedThread(store, 'a')
        await a.append({ records: notes('a', 1, 4), blobs: [blob('early', 2), blob('late', 4)] })
        await forkedThread(store, 'fork', 'a', 3, [{ stream: 'a', from: 1, to: 3 }])
        await ownedThread(store, 'b')
        const lineageOf = (stream: string, from = 1): StoredLineage => [{ stream, from, to: null }]
        const forked: StoredLineage = [{ stream: 'a', from: 1, to: 3 }, ...lineageOf('fork', 4)]
        const finds = async (content: string, lineage: StoredLineage): Promise<boolean> =>
          (await store.readBlob(blob(content, 1).hash, lineage)) !== null
        assert.deepEqual([await finds('early', lineageOf('a')), await finds('late', lineageOf('a'))], [true, true])
        assert.deepEqual([await finds('early', forked), await finds('late', forked)], [true, false])
        assert.equal(await finds('early', lineageOf('b')), false)
        assert.equal(await finds('early', lineageOf('nobody')), false)
      }),
    )

    it(
      'the same bytes are kept until the last record that refers to them goes',
      withStore(contract, async (store) => {
        const a = await ownedThread(store, 'a')
        const b = await ownedThread(store, 'b')
        const { hash, bytes } = blob('shared', 1)
        await a.append({ records: notes('a', 1, 2), blobs: [blob('shared', 1), blob('shared', 2)] })
        await b.append({ records: notes('b', 1, 1), blobs: [{ hash, mime: 'text/plain', seq: 1 }] })
        assert.equal((await store.erase('a', a.fence, { from: 1, to: 1 })).blobs, 0)
        assert.deepEqual((await store.readBlob(hash))?.bytes, bytes)
        assert.equal((await store.deleteThread('b', b.fence)).deleted, true)
        assert.deepEqual((await store.readBlob(hash))?.bytes, bytes)
        assert.equal((await store.erase('a', a.fence, { from: 2, to: 2 })).blobs, 1)
        assert.equal(await store.readBlob(hash), null)
      }),
    )

    it(
      'a reference without bytes needs a blob that is there',
      withStore(contract, async (store) => {
        const thread = await ownedThread(store, 't')
        const { hash } = blob('x', 1)
        const missing = { hash, mime: 'text/plain', seq: 1 }
        await rejection(thread.append({ records: notes('t', 1, 1), blobs: [missing] }), 'not-found')
        assert.equal((await store.getStream('t'))?.headSeq, 0)
        await thread.append({ records: notes('t', 1, 1), blobs: [blob('x', 1), missing] })
      }),
    )

    it(
      'what is large comes back as it was, in records and in views, and goes when it is erased',
      withStore(contract, async (store) => {
        const thread = await ownedThread(store, 't')
        // Half an emoji, a byte order mark, and more bytes than characters.
        const long = `\uFEFF${'é'.repeat(60_000)} \uD83D`
        const args = { ['__proto__']: long, many: Array.from({ length: 5_000 }, (_, index) => `item ${index}`) }
        const bodies: RecordBody[] = [
          messageAdded('m', long),
          { type: 'tool-call', messageId: 'm', partId: '1', toolCallId: 'c', toolName: 'write', args },
          { type: 'wait.opened', wait: { id: 'w', kind: 'approval', description: long, subject: { args } } },
        ]
        const row = waitRow('t', 'w', 3)
        const wait = { ...row.wait, description: long, subject: { args } }
        await thread.write(bodies, { messages: [message('m', 1, long)], waits: [{ ...row, wait }] })
        const lineage = [{ stream: 't', from: 1, to: null }]
        // Compared as text, because a failing comparison of values of this size would take minutes to describe.
        const read = (await store.readRecords('t', {})).items.map(({ body }) => body)
        assert.ok(JSON.stringify(read) === JSON.stringify(bodies), 'a record is another one')
        const found = await store.getMessage(lineage, 'm')
        assert.ok(JSON.stringify(found) === JSON.stringify(message('m', 1, long)), 'a message is another one')
        assert.ok(
          JSON.stringify((await store.getWait('t', 'w'))?.wait) === JSON.stringify(wait),
          'a wait is another one',
        )
        await store.erase('t', thread.fence, { from: 1, to: 3 })
        const left = JSON.stringify([(await store.readRecords('t', {})).items, await store.getWait('t', 'w')])
        assert.ok(!left.includes('éé') && !left.includes('item 1'), 'something of it is left')
      }),
    )

    it(
      'a name that is no hash is refused',
      withStore(contract, async (store) => {
        const thread = await ownedThread(store, 't')
        for (const hash of ['', 'abc', 'g'.repeat(64), 'A'.repeat(64), `${'a'.repeat(64)}\n`]) {
          const bad = { ...blob('x', 1), hash }
          await rejection(thread.append({ records: notes('t', 1, 1), blobs: [bad] }), 'invalid-input')
          await rejection(store.readBlob(hash), 'invalid-input')
        }
      }),
    )
  })
}
