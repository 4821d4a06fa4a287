import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { InspanError, type WaitRequest } from '@inspan/protocol'
import type { LogRecord, StoredHead } from '@inspan/protocol/log'
import type { Append, Store } from '@inspan/protocol/store'
import { MemoryStore } from '@inspan/stores'
import { eraseRange } from '../erase/erase.ts'
import { loadState, recordsAfter } from './load-state.ts'
import { openTestThread } from '../thread.fixture.ts'
import { rewindThread } from '../threads/threads.ts'

const MESSAGES = 1200

/** A store without its views, as after a change of the reducer, whose appends may fail. */
class ForgetfulStore extends MemoryStore {
  failing: number | undefined
  headVersion: number | undefined

  override async readHead(stream: string, version: number): Promise<StoredHead | null> {
    return this.headVersion === version ? super.readHead(stream, version) : null
  }

  override async append(append: Append): Promise<number> {
    if (this.failing !== undefined && append.records.length === 0 && --this.failing < 0) {
      throw new InspanError('io', 'The disk did not answer.')
    }
    if (append.head !== undefined && append.records.length === 0) this.headVersion = append.head.reducerVersion
    return super.append(append)
  }
}

function record(seq: number): LogRecord {
  const parts = [{ id: '0', type: 'text', text: `message ${seq}` }] as const
  return {
    v: 1,
    stream: 'thread',
    seq,
    at: seq,
    body: { type: 'message.added', messageId: `m${seq}`, role: 'user', parts },
  }
}

async function countRows(store: MemoryStore): Promise<number> {
  let rows = 0
  let cursor: string | undefined
  do {
    const page = await store.listMessages([{ stream: 'thread', from: 1, to: null }], {
      order: 'oldest',
      limit: 1000,
      ...(cursor === undefined ? {} : { cursor }),
    })
    rows += page.items.length
    cursor = page.next ?? undefined
  } while (cursor !== undefined)
  return rows
}

suite('opening a thread whose views are of another version', () => {
  test('writes them anew, also when a first attempt died half-way', async () => {
    const store = new ForgetfulStore()
    await using thread = await openTestThread(store)
    const records = Array.from({ length: MESSAGES }, (_, i) => record(i + 1))
    await store.append({ stream: 'thread', fence: thread.fence, records })
    assert.equal(await countRows(store), 0)
    store.failing = 1
    await assert.rejects(loadState(store, 'thread', thread.fence), (error) => InspanError.is(error, 'io'))
    assert.equal(await countRows(store), 500)
    store.failing = undefined
    const { state } = await loadState(store, 'thread', thread.fence)
    assert.equal(state.head.seq, MESSAGES)
    assert.equal(await countRows(store), MESSAGES)
  })
  test('gives the rows that were there before, of messages, of waits and of neither where they were erased', async () => {
    const store = new ForgetfulStore()
    await using thread = await openTestThread(store)
    const { log } = thread
    const wait = (id: string): WaitRequest => ({ id, kind: 'question', subject: {}, description: `${id}?` })
    await log.commit([
      record(1).body,
      { type: 'wait.opened', wait: wait('answered') },
      { type: 'wait.opened', wait: wait('cancelled') },
      { type: 'wait.opened', wait: wait('superseded') },
    ])
    await log.commit([{ type: 'wait.answered', waitId: 'answered', answer: { decision: 'approve' } }], { by: 'user-1' })
    await log.commit([{ type: 'wait.cancelled', waitId: 'cancelled', reason: 'timeout' }])
    await log.commit([{ type: 'wait.superseded', waitId: 'superseded' }])
    const [secret] = await log.commit([record(2).body])
    await log.commit([record(3).body, { type: 'wait.opened', wait: wait('rewound') }])
    await rewindThread(store, log, log.state.head.seq - 1)
    await log.commit([{ type: 'wait.opened', wait: wait('pending') }])
    await eraseRange(store, log, { from: secret?.seq ?? 0, to: secret?.seq ?? 0 })
    const rows = async (of: Store): Promise<unknown> => [
      await of.listMessages(log.state.head.lineage, { order: 'oldest' }),
      (await of.listWaits({ stream: 'thread' })).items,
    ]
    const before = await rows(store)
    assert.deepEqual(
      (await store.listWaits({ stream: 'thread' })).items.map((row) => [row.wait.id, row.state, row.reason]),
      [
        ['answered', 'answered', undefined],
        ['cancelled', 'cancelled', 'timeout'],
        ['superseded', 'superseded', undefined],
        ['rewound', 'cancelled', 'rewind'],
        ['pending', 'pending', undefined],
      ],
    )
    // Rebuilt in a store that has only the records.
    const bare = new ForgetfulStore()
    await using copy = await openTestThread(bare)
    const records = await Array.fromAsync(recordsAfter(store, 'thread', 0))
    await bare.append({ stream: 'thread', fence: copy.fence, records })
    assert.notDeepEqual(await rows(bare), before)
    await loadState(bare, 'thread', copy.fence)
    assert.deepEqual(await rows(bare), before)
  })
})
