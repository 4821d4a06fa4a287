import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { emptyHead, storedHead, type StoredLineage, type LogRecord, type RecordBody } from '@inspan/protocol/log'
import { AT, blob, command, message, note, notes, ownedThread, owner, record, waitRow } from './builders.ts'
import { rejection, withStore, type StoreContract } from './subject.ts'

export function appendsContract(contract: StoreContract): void {
  describe('appends', () => {
    it(
      'records come back exactly as they were written',
      withStore(contract, async (store) => {
        const thread = await ownedThread(store, 't')
        const text = 'emoji 👍🏽, half of one \ud83d, NUL \0, line separator \u2028, "quotes"'
        const records: LogRecord[] = [
          record('t', 1, note(text), { run: 'run', turn: 'turn', cause: 'half \ud83d', by: 'someone' }),
          record('t', 2, { type: 'tasks.changed', tasks: [] }, { at: AT + 0.25 }),
        ]
        assert.equal(await thread.append({ records }), 2)
        assert.deepEqual((await store.readRecords('t', {})).items, records)
      }),
    )

    it(
      'an append is one transaction: all of it is there, or nothing',
      withStore(contract, async (store) => {
        const thread = await ownedThread(store, 't')
        await store.admitCommand(command('done'))
        await thread.append({ records: notes('t', 1, 1), outcomes: [{ key: command('done').key, outcome: 'ok' }] })
        const everything = {
          records: notes('t', 2, 1),
          messages: [message('m', 2)],
          waits: [waitRow('t', 'w', 2)],
          head: { head: storedHead(emptyHead('t')), reducerVersion: 1 },
          thread: { title: 'new' },
          blobs: [blob('content', 2)],
        }
        await rejection(
          thread.append({ ...everything, outcomes: [{ key: command('done').key, outcome: 'again' }] }),
          'conflict',
        )
        await rejection(
          thread.append({ ...everything, outcomes: [{ key: command('unknown').key, outcome: 'x' }] }),
          'not-found',
        )
        assert.equal((await store.getStream('t'))?.headSeq, 1)
        assert.equal((await store.readRecords('t', {})).items.length, 1)
        assert.deepEqual(
          (await store.listMessages([{ stream: 't', from: 1, to: null }], { order: 'newest' })).items,
          [],
        )
        assert.equal(await store.getWait('t', 'w'), null)
        assert.equal(await store.readHead('t', 1), null)
        assert.equal((await store.getThread('t'))?.title, null)
        assert.equal(await store.readBlob(blob('content', 2).hash), null)

        await thread.append(everything)
        assert.equal((await store.getStream('t'))?.headSeq, 2)
        assert.deepEqual(await store.getMessage([{ stream: 't', from: 1, to: null }], 'm'), message('m', 2))
        assert.deepEqual(await store.getWait('t', 'w'), waitRow('t', 'w', 2))
        assert.deepEqual(await store.readHead('t', 1), storedHead(emptyHead('t')))
      }),
    )

    it(
      'records follow the head without a gap and without repetition',
      withStore(contract, async (store) => {
        const thread = await ownedThread(store, 't', {}, 10)
        await rejection(thread.append({ records: notes('t', 1, 1) }), 'misuse')
        await rejection(thread.append({ records: notes('t', 12, 1) }), 'misuse')
        await rejection(thread.append({ records: [...notes('t', 11, 1), ...notes('t', 13, 1)] }), 'misuse')
        await rejection(thread.append({ records: notes('other', 11, 1) }), 'misuse')
        assert.equal(await thread.append({ records: notes('t', 11, 3) }), 13)
        const error = await rejection(thread.append({ records: notes('t', 13, 1) }), 'misuse')
        assert.equal(error.details['headSeq'], 13)
        assert.equal((await store.getStream('t'))?.headSeq, 13)
      }),
    )

    it(
      'an append without records changes views and leaves the head',
      withStore(contract, async (store) => {
        const thread = await ownedThread(store, 't')
        await thread.append({ records: notes('t', 1, 2) })
        assert.equal(await thread.append({ records: [], messages: [message('m', 1)] }), 2)
        assert.equal(await thread.append({ records: [], messages: [message('m', 1, 'changed')] }), 2)
        const lineage = [{ stream: 't', from: 1, to: null }]
        assert.deepEqual((await store.listMessages(lineage, { order: 'newest' })).items, [message('m', 1, 'changed')])
      }),
    )

    it(
      'a writer that does not own the stream is refused, with the name of the owner',
      withStore(contract, async (store) => {
        await store.putOwner(owner('other', { url: 'http://127.0.0.1:1' }))
        const thread = await ownedThread(store, 't')
        const attempt = (owner: string, epoch: number): Promise<unknown> =>
          store.append({ stream: 't', fence: { owner, epoch }, records: notes('t', 1, 1) })
        await rejection(attempt('me', 2), 'fenced')
        await rejection(attempt('somebody', 1), 'fenced')
        await store.takeOver('t', 'other', thread.fence.epoch)
        const error = await rejection(attempt('me', 1), 'fenced')
        assert.equal(error.details['owner'], 'other')
        assert.deepEqual(error.details['holder'], owner('other', { url: 'http://127.0.0.1:1' }))
        assert.match(error.message, /other/)
        await store.release('t', { owner: 'other', epoch: 2 })
        const nobody = await rejection(attempt('other', 2), 'fenced')
        assert.equal(nobody.details['owner'], null)
        assert.equal((await store.getStream('t'))?.headSeq, 0)
      }),
    )

    it(
      'nobody can change what is stored from outside',
      withStore(contract, async (store) => {
        const thread = await ownedThread(store, 't', { metadata: { list: ['kept'] } })
        const body = { type: 'note', kind: 'info', text: 'kept', data: { list: ['kept'] } } satisfies RecordBody
        const bytes = blob('kept', 1).bytes ?? new Uint8Array()
        const written = message('m', 1)
        await thread.append({
          records: [record('t', 1, body)],
          messages: [written],
          blobs: [{ ...blob('kept', 1), bytes }],
        })
        const lineage = [{ stream: 't', from: 1, to: null }]
        const tamper = (value: unknown): void => {
          try {
            Object.assign(value as object, { text: 'changed', list: ['changed'], id: 'changed' })
          } catch {
            // The value is frozen, which is as good as a copy.
          }
        }
        tamper(body)
        tamper(body.data)
        tamper(written)
        bytes.fill(0)
        for (let round = 0; round < 2; round++) {
          const [read] = (await store.readRecords('t', {})).items
          assert.deepEqual(read, record('t', 1, { type: 'note', kind: 'info', text: 'kept', data: { list: ['kept'] } }))
          tamper(read?.body)
          const found = await store.getMessage(lineage, 'm')
          assert.deepEqual(found, message('m', 1))
          tamper(found)
          const info = await store.getThread('t')
          assert.deepEqual(info?.metadata, { list: ['kept'] })
          tamper(info?.metadata)
          const stored = await store.readBlob(blob('kept', 1).hash)
          assert.equal(new TextDecoder().decode(stored?.bytes), 'kept')
          stored?.bytes.fill(0)
        }
      }),
    )

    it(
      'what cannot be written as JSON is refused before anything is written',
      withStore(contract, async (store) => {
        const thread = await ownedThread(store, 't')
        const circular: Record<string, unknown> = {}
        circular['self'] = circular
        const body = { type: 'note', kind: 'info', text: '', data: circular } as unknown as RecordBody
        await rejection(thread.append({ records: [...notes('t', 1, 1), record('t', 2, body)] }), 'invalid-input')
        assert.equal((await store.getStream('t'))?.headSeq, 0)
      }),
    )

    it(
      'a head is given back only to the reducer that made it',
      withStore(contract, async (store) => {
        const thread = await ownedThread(store, 't')
        const head = { ...storedHead(emptyHead('t')), mode: 'plan' }
        await thread.append({ records: [], head: { head, reducerVersion: 3 } })
        assert.deepEqual(await store.readHead('t', 3), head)
        assert.equal(await store.readHead('t', 4), null)
        assert.equal(await store.readHead('t', 2), null)
      }),
    )

    it(
      'a record of a newer version is an error where it is, and only there',
      withStore(contract, async (store) => {
        const thread = await ownedThread(store, 't')
        const later = { type: 'invented.later' } as unknown as RecordBody
        await thread.append({
          records: [
            record('t', 1, note('old')),
            record('t', 2, note('of a later version'), { v: 99 }),
            record('t', 3, later, { v: 1 }),
            record('t', 4, note('after them')),
          ],
        })
        const other = await ownedThread(store, 'other')
        await other.append({ records: notes('other', 1, 1) })
        assert.equal((await store.readRecords('t', { upTo: 1 })).items.length, 1)
        assert.equal((await store.readRecords('t', { limit: 1 })).items.length, 1)
        const error = await rejection(store.readRecords('t', { after: 1, limit: 1 }), 'newer-version')
        assert.equal(error.details['v'], 99)
        const unknown = await rejection(store.readRecords('t', { after: 2, limit: 1 }), 'newer-version')
        assert.equal(unknown.details['type'], 'invented.later')
        assert.deepEqual((await store.readRecords('t', { after: 3 })).items, [record('t', 4, note('after them'))])
        const lineage: StoredLineage = [{ stream: 't', from: 1, to: null }]
        assert.equal((await store.latestRecord(lineage, 'note', 4))?.seq, 4)
        assert.equal((await store.latestRecord(lineage, 'note', 1))?.seq, 1)
        await rejection(store.latestRecord(lineage, 'note', 3), 'newer-version')
        assert.equal((await store.readRecords('other', {})).items.length, 1)
        await rejection(store.readRecords('t', { after: 2 }), 'newer-version')
      }),
    )
  })
}
