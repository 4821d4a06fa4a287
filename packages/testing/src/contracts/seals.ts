import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { LogRecord } from '@inspan/protocol/log'
import { batch, note, ownedThread, record, sealedText } from './builders.ts'
import { rejection, withStore, type StoreContract } from './subject.ts'

export function sealsContract(contract: StoreContract): void {
  describe('sealed parts', () => {
    it(
      'a sealed part takes the place of its batches and leaves those of other parts',
      withStore(contract, async (store) => {
        const thread = await ownedThread(store, 't')
        await thread.write([
          note('before'),
          batch('m', '0', 'a'),
          batch('m', '1', 'x'),
          batch('m', '0', 'b'),
          batch('n', '0', 'other message'),
        ])
        const sealed = record('t', 6, sealedText('m', '0', 'ab'), { first: 2 })
        await thread.append({ records: [sealed] })
        assert.deepEqual(await seqs(), [1, 3, 5, 6])
        await thread.append({ records: [record('t', 7, sealedText('m', '1', 'x'), { first: 3 })] })
        assert.deepEqual(await seqs(), [1, 5, 6, 7])
        assert.deepEqual((await store.readRecords('t', { after: 5, limit: 1 })).items, [sealed])

        async function seqs(): Promise<number[]> {
          return (await store.readRecords('t', {})).items.map((found) => found.seq)
        }
      }),
    )

    it(
      'a reader that had some of the batches gets the sealed part next',
      withStore(contract, async (store) => {
        const thread = await ownedThread(store, 't')
        await thread.write([batch('m', '0', 'a'), batch('m', '0', 'b'), batch('m', '0', 'c')])
        await thread.append({ records: [record('t', 4, sealedText('m', '0', 'abc'), { first: 1 })] })
        for (const after of [0, 1, 2, 3]) {
          const { items } = await store.readRecords('t', { after })
          assert.deepEqual(
            items.map((found) => [found.first, found.seq]),
            [[1, 4]],
          )
        }
        assert.deepEqual((await store.readRecords('t', { after: 4 })).items, [])
      }),
    )

    it(
      'batches and their seal may come in one append',
      withStore(contract, async (store) => {
        const thread = await ownedThread(store, 't')
        const sealed = record('t', 2, sealedText('m', '0', 'a'), { first: 1 })
        await thread.append({ records: [record('t', 1, batch('m', '0', 'a')), sealed] })
        assert.deepEqual((await store.readRecords('t', {})).items, [sealed])
      }),
    )

    it(
      'only a sealed part may replace earlier records',
      withStore(contract, async (store) => {
        const thread = await ownedThread(store, 't')
        await thread.write([batch('m', '0', 'a')])
        const bad: LogRecord[] = [
          record('t', 2, note('no part'), { first: 1 }),
          record('t', 2, batch('m', '0', 'b'), { first: 1 }),
          record('t', 2, sealedText('m', '0', 'a'), { first: 3 }),
          record('t', 2, sealedText('m', '0', 'a'), { first: 0 }),
        ]
        for (const wrong of bad) await rejection(thread.append({ records: [wrong] }), 'misuse')
        assert.equal((await store.readRecords('t', {})).items.length, 1)
      }),
    )
  })
}
