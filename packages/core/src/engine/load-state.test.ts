import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { EvenerError, type Append, type Head, type LogRecord } from '@evener/protocol'
import { MemoryStore } from '../stores/memory-store.ts'
import { loadState } from './load-state.ts'
import { openTestThread } from './thread.fixture.ts'

const MESSAGES = 1200

/** A store that has lost its views, as after a change of the reducer, and in which an append may fail. */
class ForgetfulStore extends MemoryStore {
  failing: number | undefined
  headVersion: number | undefined

  override async readHead(stream: string, version: number): Promise<Head | null> {
    return this.headVersion === version ? super.readHead(stream, version) : null
  }

  override async append(append: Append): Promise<number> {
    if (this.failing !== undefined && append.records.length === 0 && --this.failing < 0) {
      throw new EvenerError('io', 'The disk did not answer.')
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
    await assert.rejects(loadState(store, 'thread', thread.fence), (error) => EvenerError.is(error, 'io'))
    assert.equal(await countRows(store), 500)
    store.failing = undefined
    const { state } = await loadState(store, 'thread', thread.fence)
    assert.equal(state.head.seq, MESSAGES)
    assert.equal(await countRows(store), MESSAGES)
  })
})
