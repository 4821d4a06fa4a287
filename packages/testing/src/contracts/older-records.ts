import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { JsonObject } from '@inspan/protocol'
import { RECORD_VERSIONS, type LogRecord, type RecordBody } from '@inspan/protocol/log'
import { RECORD_FORMAT, type RecordFormat, type Store } from '@inspan/protocol/store'
import { allPages, AT, forkedThread, ownedThread, type Writer } from './builders.ts'
import { rejection, type StoreContract, type StoreSubject } from './subject.ts'

/** Pretends that notes are in their third version: first they were called jottings, then they had `words`. */
const FORMAT: RecordFormat = {
  versions: { ...RECORD_VERSIONS, note: 3 },
  upcasters: {
    ...RECORD_FORMAT.upcasters,
    jotting: [({ jotted = '' }) => ({ type: 'note', kind: 'info', words: jotted })],
    note: [neverWritten, ({ words = '', ...rest }) => ({ ...rest, text: words })],
  },
  renamed: { jotting: 'note' },
}

/** The format of the previous release, which called notes jottings. */
const BEFORE: RecordFormat = { versions: { jotting: 1 }, upcasters: {}, renamed: {} }

function neverWritten(): never {
  throw new Error('There never was a first version of this name.')
}

const jotting = (text: string): JsonObject => ({ type: 'jotting', jotted: text })
const second = (text: string): JsonObject => ({ type: 'note', kind: 'info', words: text })
const third = (text: string): JsonObject => ({ type: 'note', kind: 'info', text })

/** A record in the form of the release that wrote it. */
function stored(stream: string, seq: number, v: number, body: JsonObject): LogRecord {
  return { v, stream, seq, at: AT + seq, body: body as unknown as RecordBody }
}

/** Writes one record of each version, the oldest first. */
async function writeHistory(store: Store, id = 't'): Promise<Writer> {
  const thread = await ownedThread(store, id)
  await thread.append({
    records: [
      stored(id, 1, 1, jotting('one')),
      stored(id, 2, 2, second('two')),
      stored(id, 3, 3, third('three')),
      stored(id, 4, 1, jotting('four')),
    ],
  })
  return thread
}

function lifted(stream: string, ...texts: readonly string[]): LogRecord[] {
  return texts.map((text, index) => stored(stream, index + 1, 3, third(text)))
}

/** For records written by earlier and by later releases. */
export function olderRecordsContract(contract: StoreContract): void {
  const withFormat = (format: RecordFormat, test: (subject: StoreSubject) => Promise<void>) => async () => {
    const subject = await contract.open({ format })
    try {
      await test(subject)
    } finally {
      await subject.close()
    }
  }

  describe('records of older versions', () => {
    it(
      'are lifted, step by step and to another name, wherever they are read',
      withFormat(FORMAT, async ({ store }) => {
        await writeHistory(store)
        const all = lifted('t', 'one', 'two', 'three', 'four')
        assert.deepEqual((await store.readRecords('t', {})).items, all)
        assert.deepEqual((await store.readRecords('t', { after: 3 })).items, all.slice(3))
        assert.deepEqual((await store.readRecords('t', { after: 1, upTo: 2 })).items, all.slice(1, 2))
        const pages = await allPages((cursor) =>
          store.readRecords('t', { limit: 3, ...(cursor === undefined ? {} : { cursor }) }),
        )
        assert.deepEqual(pages, [all.slice(0, 3), all.slice(3)])
        const parent = [{ stream: 't', from: 1, to: 2 }]
        await forkedThread(store, 'fork', 't', 2, parent)
        const lineage = [...parent, { stream: 'fork', from: 3, to: null }]
        const { items } = await store.readLineage(lineage, { upTo: 2 })
        assert.deepEqual(items, all.slice(0, 2))
      }),
    )

    it(
      'are found by what their type is called now',
      withFormat(FORMAT, async ({ store }) => {
        await writeHistory(store)
        const lineage = [{ stream: 't', from: 1, to: null }]
        const all = lifted('t', 'one', 'two', 'three', 'four')
        for (const seq of [4, 3, 2, 1]) {
          assert.deepEqual(await store.latestRecord(lineage, 'note', seq), all[seq - 1])
        }
        assert.equal(await store.latestRecord(lineage, 'tasks.changed', 4), null)
      }),
    )

    it(
      'can be erased, and are what is written today afterwards',
      withFormat(FORMAT, async ({ store }) => {
        const thread = await writeHistory(store)
        assert.equal((await store.erase('t', thread.fence, { from: 1, to: 2 })).records, 2)
        const erased = lifted('t', '', '', 'three', 'four')
        assert.deepEqual((await store.readRecords('t', {})).items, erased)
        assert.deepEqual(await store.latestRecord([{ stream: 't', from: 1, to: 1 }], 'note', 1), erased[0])
        assert.equal((await store.erase('t', thread.fence, { from: 1, to: 2 })).records, 0)
      }),
    )

    if (contract.isDurable === true) {
      it(
        'stay as they were written, whoever reads them',
        withFormat(BEFORE, async ({ store, reopen }) => {
          assert.ok(reopen !== undefined, 'a durable store has to be given with `reopen`')
          const thread = await ownedThread(store, 't')
          const asWritten = [stored('t', 1, 1, jotting('one'))]
          await thread.append({ records: asWritten })
          const now = await reopen({ format: FORMAT })
          assert.deepEqual((await now.readRecords('t', {})).items, lifted('t', 'one'))
          const before = await reopen({ format: BEFORE })
          assert.deepEqual((await before.readRecords('t', {})).items, asWritten)
        }),
      )
    }
  })

  describe('a record of a version that is not known', () => {
    it(
      'is an error that names it and what to do, where it is read and nowhere else',
      withFormat(FORMAT, async ({ store }) => {
        const thread = await writeHistory(store)
        await thread.append({ records: [stored('t', 5, 9, { type: 'note', hologram: true })] })
        await thread.append({ records: [stored('t', 6, 3, third('six'))] })
        const lineage = [{ stream: 't', from: 1, to: null }]
        for (const read of [
          () => store.readRecords('t', {}),
          () => store.readLineage(lineage, { after: 4 }),
          () => store.latestRecord(lineage, 'note', 5),
        ]) {
          const error = await rejection(read(), 'newer-version')
          assert.match(error.message, /"note" version 9/)
          assert.match(error.hint ?? '', /Upgrade/)
          assert.deepEqual(error.details, { stream: 't', seq: 5, type: 'note', v: 9, known: 3 })
        }
        assert.deepEqual((await store.readRecords('t', { upTo: 4 })).items.length, 4)
        assert.equal((await store.latestRecord(lineage, 'note', 6))?.seq, 6)
      }),
    )

    it(
      'cannot be erased, nor what would be erased in one step with it; its thread can be deleted',
      withFormat(FORMAT, async ({ store }) => {
        const thread = await writeHistory(store)
        await thread.append({ records: [stored('t', 5, 1, { type: 'hologram' })] })
        await rejection(store.erase('t', thread.fence, { from: 1, to: 5 }), 'newer-version')
        assert.deepEqual((await store.readRecords('t', { upTo: 4 })).items, lifted('t', 'one', 'two', 'three', 'four'))
        assert.equal((await store.deleteThread('t', thread.fence)).deleted, true)
      }),
    )

    if (contract.isDurable === true) {
      it(
        'is there for the release that knows it',
        withFormat(RECORD_FORMAT, async ({ store, reopen }) => {
          assert.ok(reopen !== undefined, 'a durable store has to be given with `reopen`')
          const thread = await ownedThread(store, 't')
          await thread.append({ records: [stored('t', 1, 3, third('new'))] })
          await rejection(store.readRecords('t', {}), 'newer-version')
          const upgraded = await reopen({ format: FORMAT })
          assert.deepEqual((await upgraded.readRecords('t', {})).items, lifted('t', 'new'))
        }),
      )
    }
  })
}
