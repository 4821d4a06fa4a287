import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { StoredMessage } from '@inspan/protocol'
import type { StoredLineage, LogRecord } from '@inspan/protocol/log'
import { MAX_PAGE } from '@inspan/protocol/store'
import { allPages, forkedThread, message, note, notes, ownedThread, record, rewindBody } from './builders.ts'
import { rejection, withStore, type StoreContract } from './subject.ts'

export function readsContract(contract: StoreContract): void {
  describe('reads', () => {
    it(
      'records are paged in order, from any place',
      withStore(contract, async (store) => {
        const thread = await ownedThread(store, 't')
        await thread.append({ records: notes('t', 1, 10) })
        const pages = await allPages((cursor) =>
          store.readRecords('t', { after: 2, upTo: 9, limit: 3, ...(cursor === undefined ? {} : { cursor }) }),
        )
        assert.deepEqual(
          pages.map((page) => page.map((found) => found.seq)),
          [[3, 4, 5], [6, 7, 8], [9]],
        )
        assert.deepEqual(await store.readRecords('t', { after: 10 }), { items: [], next: null })
        for (const query of [{ after: -1 }, { after: 0.5 }, { upTo: NaN }, { after: 2 ** 33 }]) {
          await rejection(store.readRecords('t', query), 'invalid-input')
        }
      }),
    )

    it(
      'a page has 50 items by default and never more than 1,000',
      withStore(contract, async (store) => {
        const thread = await ownedThread(store, 't')
        await thread.append({ records: notes('t', 1, MAX_PAGE + 1) })
        assert.equal((await store.readRecords('t', {})).items.length, 50)
        const most = await store.readRecords('t', { limit: 100_000 })
        assert.equal(most.items.length, MAX_PAGE)
        assert.notEqual(most.next, null)
        for (const limit of [0, -1, 1.5, NaN, Infinity]) {
          await rejection(store.readRecords('t', { limit }), 'invalid-input')
          await rejection(store.listThreads({ limit }), 'invalid-input')
        }
      }),
    )

    it(
      'a cursor that is damaged or belongs to another list is refused',
      withStore(contract, async (store) => {
        const thread = await ownedThread(store, 't')
        const other = await ownedThread(store, 'other')
        await thread.say(4)
        await other.say(4)
        const lineage: StoredLineage = [{ stream: 't', from: 1, to: null }]
        const records = (await store.readRecords('t', { limit: 2 })).next ?? ''
        const messages = (await store.listMessages(lineage, { order: 'newest', limit: 2 })).next ?? ''
        const threads = (await store.listThreads({ limit: 1 })).next ?? ''
        for (const cursor of ['', 'x', '!!!', 'e30', btoa('[1]'), records.slice(1), `${records}AAAA`]) {
          await rejection(store.readRecords('t', { cursor }), 'invalid-input')
          await rejection(store.listThreads({ cursor }), 'invalid-input')
        }
        await rejection(store.readRecords('other', { cursor: records }), 'invalid-input')
        await rejection(store.readRecords('t', { cursor: messages }), 'invalid-input')
        await rejection(store.listMessages(lineage, { order: 'oldest', cursor: messages }), 'invalid-input')
        await rejection(
          store.listMessages([{ stream: 'other', from: 1, to: null }], { order: 'newest', cursor: messages }),
          'invalid-input',
        )
        await rejection(store.listThreads({ cursor: threads, resourceId: 'r' }), 'invalid-input')
        await rejection(store.listOwners({ cursor: threads }), 'invalid-input')
        await rejection(store.listWaits({ cursor: records }), 'invalid-input')
      }),
    )

    describe('of a fork of a fork that was rewound', () => {
      // grand 1–6, forked at 4 → parent 5–9, rewound at 10 to 7, forked at 11 → child 12–14
      const parentLineage: StoredLineage = [
        { stream: 'grand', from: 1, to: 4 },
        { stream: 'parent', from: 5, to: 7 },
        { stream: 'parent', from: 10, to: null },
      ]
      const childLineage: StoredLineage = [
        { stream: 'grand', from: 1, to: 4 },
        { stream: 'parent', from: 5, to: 7 },
        { stream: 'parent', from: 10, to: 11 },
        { stream: 'child', from: 12, to: null },
      ]

      const withFamily = (test: Parameters<typeof withStore>[1]): (() => Promise<void>) =>
        withStore(contract, async (store) => {
          const grand = await ownedThread(store, 'grand')
          await grand.say(6)
          const parent = await forkedThread(store, 'parent', 'grand', 4, [{ stream: 'grand', from: 1, to: 4 }])
          await parent.say(4)
          await parent.write([rewindBody(7, parentLineage.slice(0, 2))])
          await parent.say(1)
          const child = await forkedThread(store, 'child', 'parent', 11, childLineage.slice(0, 3))
          await child.say(2)
          await test(store)
        })

      it(
        'records follow the lineage, whatever the size of the pages',
        withFamily(async (store) => {
          for (const limit of [1, 2, 3, 50]) {
            const pages = await allPages((cursor) =>
              store.readLineage(childLineage, { limit, ...(cursor === undefined ? {} : { cursor }) }),
            )
            const found: LogRecord[] = pages.flat()
            assert.deepEqual(
              found.map((read) => [read.stream, read.seq]),
              [
                ...[1, 2, 3, 4].map((seq) => ['grand', seq]),
                ...[5, 6, 7, 10, 11].map((seq) => ['parent', seq]),
                ...[12, 13, 14].map((seq) => ['child', seq]),
              ],
            )
            assert.ok(pages.every((page) => page.length <= limit))
          }
          const middle = await store.readLineage(childLineage, { after: 3, upTo: 10 })
          assert.deepEqual(
            middle.items.map((read) => read.seq),
            [4, 5, 6, 7, 10],
          )
        }),
      )

      it(
        'messages are paged from either end',
        withFamily(async (store) => {
          const orders = [1, 2, 3, 4, 6, 7, 11, 13, 14]
          for (const limit of [1, 2, 4, 50]) {
            for (const order of ['newest', 'oldest'] as const) {
              const pages = await allPages((cursor) =>
                store.listMessages(childLineage, { order, limit, ...(cursor === undefined ? {} : { cursor }) }),
              )
              const found: StoredMessage[] = pages.flat()
              assert.deepEqual(
                found.map((read) => read.order),
                order === 'oldest' ? orders : orders.toReversed(),
              )
            }
          }
        }),
      )

      it(
        'a message is found by its id if the lineage shows it',
        withFamily(async (store) => {
          assert.deepEqual(await store.getMessage(childLineage, 'grand-3'), message('grand-3', 3))
          assert.deepEqual(await store.getMessage(childLineage, 'child-14'), message('child-14', 14))
          assert.equal(await store.getMessage(childLineage, 'grand-5'), null)
          assert.equal(await store.getMessage(childLineage, 'parent-8'), null)
          assert.equal(await store.getMessage([{ stream: 'grand', from: 1, to: null }], 'child-14'), null)
        }),
      )

      it(
        'the newest record of a type is found up to a seq',
        withFamily(async (store) => {
          const seqOf = async (type: LogRecord['body']['type'], upTo: number): Promise<number | undefined> =>
            (await store.latestRecord(childLineage, type, upTo))?.seq
          assert.equal(await seqOf('message.added', 100), 14)
          assert.equal(await seqOf('message.added', 10), 7)
          assert.equal(await seqOf('fork', 100), 12)
          assert.equal(await seqOf('fork', 11), 5)
          assert.equal(await seqOf('rewind', 100), 10)
          assert.equal(await seqOf('rewind', 9), undefined)
          assert.equal(await seqOf('tasks.changed', 100), undefined)
        }),
      )
    })

    it(
      'a run that was given its id is found by it, in the threads that show it',
      withStore(contract, async (store) => {
        const thread = await ownedThread(store, 't')
        const rules = { categories: {}, tools: {}, patterns: [] }
        const started = (seq: number, run: string, named: { named?: true }): LogRecord => ({
          ...record('t', seq, { type: 'run.started', runId: run, agentId: 'a', rules, ...named }),
          run,
          turn: 'turn',
        })
        const records = [
          record('t', 1, note('before')),
          started(2, 'r"1', { named: true }),
          started(3, 'r2', {}),
          started(4, 'r"10', { named: true }),
        ]
        await thread.append({ records })
        const all: StoredLineage = [{ stream: 't', from: 1, to: null }]
        assert.equal(await store.hasNamedRun(all, 'r"1'), true)
        assert.equal(await store.hasNamedRun(all, 'r"10'), true)
        for (const other of ['r"', 'r"100', 'r2', 'turn', 'R"1'])
          assert.equal(await store.hasNamedRun(all, other), false)
        assert.equal(await store.hasNamedRun([{ stream: 't', from: 1, to: 3 }], 'r"10'), false)
        assert.equal(await store.hasNamedRun([{ stream: 't', from: 3, to: null }], 'r"1'), false)
        await store.erase('t', thread.fence, { from: 1, to: 4 })
        assert.equal(await store.hasNamedRun(all, 'r"1'), true)
        await ownedThread(store, 'other')
        assert.equal(await store.hasNamedRun([{ stream: 'other', from: 1, to: null }], 'r"1'), false)
      }),
    )

    it(
      'an open batch can be found as the newest of its type',
      withStore(contract, async (store) => {
        const thread = await ownedThread(store, 't')
        const event = { type: 'text-delta', messageId: 'm', partId: '0', text: 'a' } as const
        await thread.write([{ type: 'batch', event }, note('later')])
        const lineage: StoredLineage = [{ stream: 't', from: 1, to: null }]
        assert.deepEqual(await store.latestRecord(lineage, 'batch', 9), record('t', 1, { type: 'batch', event }))
      }),
    )

    it(
      'a lineage that makes no sense is refused',
      withStore(contract, async (store) => {
        const thread = await ownedThread(store, 't')
        await thread.say(2)
        const wrong: StoredLineage[] = [
          [],
          [{ stream: 't', from: 0, to: null }],
          [{ stream: '', from: 1, to: null }],
          [{ stream: 't', from: 1, to: NaN }],
          [
            { stream: 't', from: 2, to: 2 },
            { stream: 't', from: 1, to: null },
          ],
          [
            { stream: 't', from: 1, to: null },
            { stream: 't', from: 2, to: null },
          ],
        ]
        for (const lineage of wrong) {
          await rejection(store.readLineage(lineage, {}), 'invalid-input')
          await rejection(store.listMessages(lineage, { order: 'newest' }), 'invalid-input')
        }
        await rejection(store.readLineage([{ stream: 'x', from: 1, to: 5 }], {}), 'not-found')
      }),
    )
  })
}
